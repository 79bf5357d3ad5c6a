// Who there is, and the credentials that apps and people need.
import {operate, containerPath, place} from "./api.js";
import {h, fill, field, button, notify, copy, dialog, Room} from "./dom.js";

class Users extends Room {
    #list = h("div", {});

    async show() {
        const name = h("input", {required: true});
        const address = h("input", {type: "email"});
        const form = h("form", {class: "choices", onsubmit: event => {
            event.preventDefault();
            this.attempt(async () => {
                await operate("POST", containerPath("users"),
                    {name: name.value, ...(address.value ? {emailAddress: address.value} : {})});
                notify(`${name.value} is a user now`);
                name.value = address.value = "";
                place.choose({});
            }, form);
        }}, field("Name", name), field("E-mail address", address), h("p", {class: "actions"}, h("button", {class: "main"}, "Add a user")));
        fill(this, h("h1", {}, "Users"), this.#list, h("h2", {}, "Add a user"),
            h("p", {class: "note"}, "Without a password: such a user signs in on the server's own machine. “cloudkit users password” gives one."),
            form, h("h2", {}, "API tokens"),
            h("p", {}, `An API token lets an app reach ${place.container} in ${place.environment}. The server keeps its sum only, so it is shown once.`),
            h("p", {class: "actions"}, button("Make an API token", () => this.#token())));
        await this.#load();
    }

    async #load() {
        const {users} = await operate("GET", containerPath("users"), undefined, this.signal);
        fill(this.#list, users.length === 0 ? h("p", {}, "There are none yet.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Users"}, h("table", {},
                h("thead", {}, h("tr", {}, ["Name", "E-mail address", "Record name"].map(text => h("th", {scope: "col"}, text)), h("td", {}))),
                h("tbody", {}, users.map(user => {
                    const name = [user.givenName, user.familyName].filter(Boolean).join(" ") || user.userRecordName;
                    return h("tr", {}, h("th", {scope: "row"}, name), h("td", {}, user.emailAddress ?? ""),
                        h("td", {}, user.userRecordName), h("td", {class: "actions"},
                            button("Act as", () => place.choose({user: user.userRecordName}), {"aria-label": `Act as ${name}`}),
                            button("Make tokens", () => this.#session(user, name), {"aria-label": `Make tokens for ${name}`})));
                })))));
    }

    async #token() {
        await this.attempt(async () => {
            const {apiToken} = await operate("POST", containerPath("api-tokens"), {environment: place.environment});
            this.#show("A new API token", {CLOUDKIT_API_TOKEN: apiToken});
        });
    }

    /** Makes what a program needs to act as a user for a day. */
    async #session(user, name) {
        await this.attempt(async () => {
            const made = await operate("POST", containerPath("sessions"),
                {environment: place.environment, userRecordName: user.userRecordName});
            this.#show(`Tokens for ${name}, for a day`,
                {CLOUDKIT_API_TOKEN: made.apiToken, CLOUDKIT_WEB_AUTH_TOKEN: made.webAuthToken});
        });
    }

    #show(title, tokens) {
        const lines = Object.entries({CLOUDKIT_URL: location.origin, CLOUDKIT_CONTAINER: place.container,
            CLOUDKIT_ENVIRONMENT: place.environment, ...tokens}).map(([key, value]) => `export ${key}='${value.replaceAll("'", "'\\''")}'`).join("\n");
        dialog(title, h("p", {}, "Shown once. For a shell:"), h("pre", {tabindex: "0", role: "region", "aria-label": "Settings"}, lines),
            h("footer", {}, button("Copy", () => copy(lines), {class: "main"}))).classList.add("wide");
    }
}

customElements.define("ck-users", Users);
