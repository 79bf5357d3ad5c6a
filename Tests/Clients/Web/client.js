// A small client that sends what CloudKit JS sends, form by form: paths, query, bodies, cookie, sign-in by
// window, long poll. It shares no code with it; Apple's script may not be in a repository.
"use strict";

class WebClient {
    constructor({url, container, apiToken, version, fetch}) {
        Object.assign(this, {url, container, apiToken, version: version ?? 2});
        // Uploads and the courier go to addresses of the service, and not through a page's own fetch.
        this.fetch = fetch ?? ((url, options) => window.fetch(url, options));
        this.clientId = crypto.randomUUID();
        this.polls = false;
    }

    // The token is kept in a cookie of the page, which is named like the container.
    get token() {
        const prefix = encodeURIComponent(this.container) + "=";
        const found = document.cookie.split("; ").find(cookie => cookie.startsWith(prefix));
        return found ? decodeURIComponent(found.slice(prefix.length)) : null;
    }

    set token(token) {
        const name = encodeURIComponent(this.container);
        const age = token === null ? 0 : 14 * 24 * 60 * 60;
        document.cookie = `${name}=${encodeURIComponent(token ?? "")}; max-age=${age}; path=/`;
    }

    // `body` undefined asks with GET, as the calls do that have none.
    async send(module, database, action, body) {
        const parts = [this.url, module, 1, this.container, "development", database, action];
        const query = new URLSearchParams({
            ckjsBuildVersion: "2420ProjectDev22", ckjsVersion: "2.6.4", clientId: this.clientId,
        });
        // A program with a key has no token: it signs the request.
        if (this.apiToken) query.set("ckAPIToken", this.apiToken);
        const tokenName = this.version === 1 ? "ckSession" : "ckWebAuthToken";
        if (this.token !== null) query.set(tokenName, this.token);
        // No headers: a text body goes as text/plain, which needs no preflight.
        const response = await this.fetch(parts.filter(part => part !== null).join("/") + "?" + query, {
            method: body === undefined ? "GET" : "POST",
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        const header = this.version === 1 ? "X-Apple-CloudKit-Session" : "X-Apple-CloudKit-Web-Auth-Token";
        const next = response.headers.get(header);
        if (next) this.token = next;
        const result = await response.json();
        if (!response.ok) throw Object.assign(new Error(result.reason), result, {status: response.status});
        return result;
    }

    // Who is signed in; null where nobody is, and then where to sign in.
    async setUpAuth() {
        try {
            return await this.send("database", "public", "users/caller");
        } catch (error) {
            if (error.serverErrorCode !== "AUTHENTICATION_REQUIRED") throw error;
            this.token = null;
            this.redirectURL = error.redirectURL ?? error.redirectUrl;
            return null;
        }
    }

    // Opens the window for signing in; must be called by a click.
    signIn() {
        return new Promise((resolve, reject) => {
            const origin = new URL(this.redirectURL).origin;
            addEventListener("message", event => {
                if (event.origin !== origin) return;
                if (event.data.errorMessage) return reject(new Error(event.data.errorMessage));
                this.token = event.data.ckSession;
                resolve(this.setUpAuth());
            });
            open(this.redirectURL, "iCloud", "width=640,height=525");
        });
    }

    signOut() {
        this.polls = false;
        this.token = null;
    }

    // A Blob goes to where the service says, and the record is made without a name: the one of the
    // response is dropped.
    async upload(zoneID, recordType, fieldName, blob) {
        const reserved = await this.send("database", "private", "assets/upload", {
            zoneID, tokens: [{recordType, fieldName}],
        });
        const response = await fetch(reserved.tokens[0].url, {method: "POST", body: blob});
        return (await response.json()).singleFile;
    }

    // Values go without their types.
    save(zoneID, recordType, values, recordName) {
        const fields = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, {value}]));
        const record = {recordType, fields, ...(recordName ? {recordName} : {})};
        return this.send("database", "private", "records/modify", {
            zoneID, operations: [{operationType: "create", record}],
        });
    }

    // Waits at the courier again and again, and tells of each notification.
    async listen(notify) {
        const token = await this.send("device", null, "tokens/create", {
            apnsEnvironment: "development", clientId: this.clientId,
        });
        this.polls = true;
        (async () => {
            for (let failures = 0; this.polls && failures < 10;) {
                try {
                    const text = await (await fetch(token.webcourierURL)).text();
                    if (text) notify(JSON.parse(text));
                    failures = 0;
                } catch {
                    failures += 1;
                    await new Promise(resolve => setTimeout(resolve, 10 * 2 ** failures));
                }
            }
        })();
    }
}
