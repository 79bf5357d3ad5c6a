// Who there is, and the credentials that apps and people need.
import {operate, containerPath, part, place, people, fullName, nameOf} from "./api.js";
import {h, fill, field, button, notify, copy, confirm, dialog, moment, number, amount, words, Room} from "./dom.js";

/** What the command line calls credentials, and what people do. */
const kinds = {api: "API token", "web-auth": "session", "server-key": "server-to-server key"};
/** Digits that tell credentials apart. */
const DIGITS = 12;

class Users extends Room {
    #list = h("div", {});
    #credentials = h("div", {});

    async show() {
        const name = h("input", {required: true});
        // A control of the type for addresses turns domains with letters other than ASCII's into codes.
        const address = h("input", {inputmode: "email", spellcheck: "false", autocomplete: "off", autocapitalize: "none"});
        const form = h("form", {class: "choices", onsubmit: event => {
            event.preventDefault();
            this.attempt(async () => {
                await this.#add({name: name.value, ...(address.value.trim() ? {emailAddress: address.value.trim()} : {})});
                notify(words`${name.value} is a user now`);
                name.value = address.value = "";
                place.choose({});
            }, form);
        }}, field("Name", name), field("E-mail address", address), h("p", {class: "actions"}, h("button", {class: "main"}, "Add a user")));
        fill(this, h("h1", {}, "Users"), this.#list, h("h2", {}, "Add a user"),
            h("p", {class: "note"}, "Without a password: such a user signs in on the server's own machine. “cloudkit users password” gives one."),
            form, h("h2", {}, "API tokens"),
            h("p", {}, words`An API token lets an app reach ${place.container} in ${place.environment}. The server keeps its sum only, so it is shown once.`),
            h("p", {class: "actions"}, button("Make an API token", () => this.#token())),
            h("h2", {}, "Server-to-server keys"),
            h("p", {}, "Such a key signs requests to the public database. Its private half is made here and shown once; the server gets "
                + "the public half."),
            h("p", {class: "actions"}, button("Make a server-to-server key", () => this.#serverKey())),
            h("h2", {}, "What was handed out"), this.#credentials);
        await this.#load();
        await this.#loadCredentials();
    }

    async #add(user) {
        await operate("POST", containerPath("users"), user).catch(error => {
            if (error.status !== 0) throw error;
            this.#load().catch(() => {});
            throw new Error(`${error.message}. Whether ${user.name} was added is not known; look at the list before you try again`);
        });
    }

    async #load() {
        const {users} = await operate("GET", containerPath("users"), undefined, this.signal);
        fill(this.#list, users.length === 0 ? h("p", {}, "There are none yet.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Users"}, h("table", {},
                h("thead", {}, h("tr", {}, ["Name", "E-mail address", "Record name"].map(text => h("th", {scope: "col"}, text)), h("td", {}))),
                h("tbody", {}, users.map(user => {
                    const name = people.get(user.userRecordName) ?? fullName(user);
                    return h("tr", {}, h("th", {scope: "row"}, name), h("td", {}, user.emailAddress ?? ""),
                        h("td", {}, user.userRecordName), h("td", {class: "actions"},
                            button("Act as", () => place.choose({user: user.userRecordName}), {"aria-label": `Act as ${name}`}),
                            button("Make tokens", () => this.#session(user, name), {"aria-label": `Make tokens for ${name}`}),
                            button("Sign out", () => this.#signOut(user, name), {class: "danger", "aria-label": `Sign ${name} out`})));
                })))));
    }

    async #loadCredentials() {
        const {credentials} = await operate("GET", containerPath("credentials"), undefined, this.signal);
        const shown = credentials.filter(each => each.environment === place.environment);
        fill(this.#credentials, h("p", {class: "note"}, `Of ${place.environment}. What is revoked is refused at once; with an API token go the sessions that were begun with it. `
            + "This page has some too, for a day, and makes itself others."),
        shown.length === 0 ? h("p", {}, "There is nothing.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "What was handed out"}, h("table", {},
                h("thead", {}, h("tr", {}, ["Identifier", "What", "User", "Ends"].map(text => h("th", {scope: "col"}, text)), h("td", {}))),
                h("tbody", {}, shown.map(each => {
                    const id = each.id.slice(0, DIGITS);
                    return h("tr", {}, h("th", {scope: "row"}, h("code", {}, id)), h("td", {}, kinds[each.kind] ?? each.kind),
                        h("td", {}, each.userRecordName ? nameOf(each.userRecordName) : ""), h("td", {}, each.expires ? moment(each.expires) : "never"),
                        h("td", {}, button("Revoke", () => this.#revoke(each), {class: "danger", "aria-label": `Revoke ${id}`})));
                })))));
    }

    async #revoke({id, kind}) {
        if (!await confirm("Revoke", [words`The ${kinds[kind] ?? kind} ${id.slice(0, DIGITS)} of ${place.environment} is revoked: whoever uses it is refused `,
            kind === "api" ? "from now on, and so are the sessions that were begun with it." : "from now on.", " It cannot be brought back."], "Revoke")) return;
        await this.attempt(async () => {
            const {credentials} = await operate("DELETE", containerPath(`credentials/${part(id)}`));
            notify(credentials.length === 1 ? "It is revoked" : `${number(credentials.length)} are revoked`);
            await this.#loadCredentials();
        }, this.#credentials);
    }

    async #signOut(user, name) {
        if (!await confirm("Sign out", words`Every session of ${name} ends, in both environments: programs that act as this user are refused until somebody signs in again.`, "Sign out")) return;
        await this.attempt(async () => {
            const {credentials} = await operate("DELETE", containerPath(`users/${part(user.userRecordName)}/sessions`));
            notify(words`${name} is signed out: ${amount(credentials.length, "session")} ${credentials.length === 1 ? "has" : "have"} ended`);
            await this.#loadCredentials();
        });
    }

    /** Makes a key pair in the browser, and registers its public half. */
    async #serverKey() {
        await this.attempt(async () => {
            if (!crypto.subtle) throw new Error("Browsers make keys on secure pages only; use “cloudkit tokens server-key” instead");
            const {publicKey, privateKey} = await crypto.subtle.generateKey({name: "ECDSA", namedCurve: "P-256"}, true, ["sign", "verify"]);
            const {keyID} = await operate("POST", containerPath("server-keys"),
                {environment: place.environment, publicKey: pem("PUBLIC KEY", await crypto.subtle.exportKey("spki", publicKey))});
            const text = pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", privateKey));
            this.#show("A new server-to-server key", {CLOUDKIT_KEY_ID: keyID, CLOUDKIT_PRIVATE_KEY_FILE: "eckey.pem"},
                [h("p", {}, "The file eckey.pem:"), h("pre", {tabindex: "0", role: "region", "aria-label": "Private key"}, text),
                    button("Copy the private key", () => copy(text))]);
            await this.#loadCredentials();
        });
    }

    async #token() {
        await this.attempt(async () => {
            const {apiToken} = await operate("POST", containerPath("api-tokens"), {environment: place.environment});
            this.#show("A new API token", {CLOUDKIT_API_TOKEN: apiToken});
            await this.#loadCredentials();
        });
    }

    /** Makes what a program needs to act as a user for a day. */
    async #session(user, name) {
        await this.attempt(async () => {
            const made = await operate("POST", containerPath("sessions"),
                {environment: place.environment, userRecordName: user.userRecordName});
            this.#show(words`Tokens for ${name}, for a day`,
                {CLOUDKIT_API_TOKEN: made.apiToken, CLOUDKIT_WEB_AUTH_TOKEN: made.webAuthToken});
            await this.#loadCredentials();
        });
    }

    #show(title, tokens, more) {
        const lines = Object.entries({CLOUDKIT_URL: location.origin, CLOUDKIT_CONTAINER: place.container,
            CLOUDKIT_ENVIRONMENT: place.environment, ...tokens}).map(([key, value]) => `export ${key}='${value.replaceAll("'", "'\\''")}'`).join("\n");
        dialog(title, h("p", {}, "Shown once. For a shell:"), h("pre", {tabindex: "0", role: "region", "aria-label": "Settings"}, lines), more,
            h("footer", {}, button("Copy", () => copy(lines), {class: "main"}))).classList.add("wide");
    }
}

/** Bytes as PEM has them. */
function pem(label, bytes) {
    const text = btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/.{64}(?=.)/g, "$&\n");
    return `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
}

customElements.define("ck-users", Users);
