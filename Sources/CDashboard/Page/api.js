// What the page asks the server: the routes for operators with their key, and CloudKit Web Services with tokens that
// those routes make.

const store = sessionStorage;

/** Why the server refused. */
export class Failure extends Error {
    constructor(status, body) {
        super(body?.reason ?? `The response has the status ${status}`);
        this.status = status;
        this.code = body?.serverErrorCode ?? "";
        this.body = body;
    }
}

/** Takes the key out of the page's own address, where it came behind the sign that stays in the browser. */
export function takeKey(back = "") {
    const found = /^#key=(.+)$/.exec(location.hash);
    if (!found) return false;
    history.replaceState(null, "", location.pathname + back);
    // What no address escapes is the key as it is.
    try { setKey(decodeURIComponent(found[1])); } catch { setKey(found[1]); }
    return true;
}

/** Why the server refused the key of this tab, so that it is not asked with it again. */
let refusal = null;

export const hasKey = () => Boolean(store.getItem("key"));

export function setKey(key) {
    refusal = null;
    if (key === store.getItem("key")) return;
    // Tokens that a server made with another key may be those of another server.
    for (const name of Object.keys(store)) if (name.startsWith("session/")) store.removeItem(name);
    store.setItem("key", key);
}

// Whole numbers that JavaScript's do not hold stay what they are.
const hasLong = /\d{16}/;
function reviveLong(_, value, context) {
    const isLong = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "");
    return isLong ? BigInt(context.source) : value;
}

export function parse(text) { return JSON.parse(text, hasLong.test(text) ? reviveLong : undefined); }

export function stringify(value, indent) {
    return JSON.stringify(value, (_, part) => typeof part !== "bigint" ? part
        : JSON.rawJSON ? JSON.rawJSON(String(part)) : Number(part), indent);
}

/** Whether the server can be reached; it is looked for until it can. */
export const connection = {
    /** When a request did not reach it, in milliseconds, until one does. */
    lostSince: null,
    isLooking: false,
    async look() {
        if (this.isLooking) return;
        this.isLooking = true;
        const now = Date.now();
        // A response of any kind says that somebody is there.
        while (!await fetch("/health/live", {cache: "no-store", credentials: "omit"}).catch(() => null)) {
            if (this.lostSince === null) {
                this.lostSince = now;
                dispatchEvent(new Event("ck-connection"));
            }
            await new Promise(resolve => setTimeout(resolve, 2000));
        }
        this.isLooking = false;
        if (this.lostSince === null) return;
        this.lostSince = null;
        dispatchEvent(new Event("ck-connection"));
    },
};

/** Sends a request; one that gets no response says so, and the server is looked for. */
export async function send(url, options) {
    try {
        return await fetch(url, {cache: "no-store", credentials: "omit", ...options});
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw noResponse();
    }
}

/** Looks for the server, and answers what to say meanwhile. */
export function noResponse() {
    connection.look();
    return new Failure(0, {reason: "There is no response: the server was stopped, or the connection broke"});
}

/** The text of a response that may be cut off. */
async function textOf(response) {
    try {
        return await response.text();
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new Failure(0, {reason: "The response was cut off: the connection broke"});
    }
}

async function answer(response) {
    const text = await textOf(response);
    let body = null;
    try { body = text ? parse(text) : null; } catch { /* Not JSON: the status says enough. */ }
    if (!response.ok) throw new Failure(response.status, body);
    return body;
}

/** Asks a route for operators. */
export async function operate(method, path, body, signal) {
    if (refusal) throw refusal;
    const key = store.getItem("key") ?? "";
    // A request carries nothing else.
    if (!/^[ -~]*$/.test(key)) refuse(new Failure(403, {reason: "The key has a character that no key has"}));
    const response = await send(`/_ck/${path}`, {
        method, signal, body: body === undefined ? undefined : stringify(body), headers: {Authorization: `Bearer ${key}`},
    });
    try {
        return await answer(response);
    } catch (error) {
        // Meanwhile the person may have given another one.
        if (/Bearer KEY|not this server's|with a wrong key/.test(error.message) && key === (store.getItem("key") ?? "")) refuse(error);
        throw error;
    }
}

function refuse(error) {
    refusal = error;
    dispatchEvent(new Event("ck-key"));
    throw error;
}

export const part = text => encodeURIComponent(text);

/** Where requests go: a container, an environment, and a user or nobody. */
export const place = {
    container: store.getItem("container") ?? "",
    environment: store.getItem("environment") ?? "development",
    user: "",
    /** The user whom the person chose for the container, empty for nobody; null before a choice. */
    get chosenUser() { return store.getItem(`user/${this.container}`); },
    choose(choice) {
        for (const [name, value] of Object.entries(choice)) {
            this[name] = value;
            store.setItem(name === "user" ? `user/${this.container}` : name, value);
        }
        dispatchEvent(new Event("ck-place"));
    },
};

/** What people call the users of the container, by record name. */
export const people = new Map();

/** What people call a user, or the record name. */
export const nameOf = user => people.get(user) ?? user ?? "nobody known";

export const containerPath = (rest = "") => `containers/${part(place.container)}/${rest}`;

async function session(user, isFresh) {
    const name = `session/${place.container}/${place.environment}/${user}`;
    const kept = isFresh ? null : store.getItem(name);
    if (kept) return {name, ...JSON.parse(kept)};
    const made = await operate("POST", containerPath("sessions"), {
        environment: place.environment, ...(user ? {userRecordName: user} : {}),
    });
    store.setItem(name, JSON.stringify(made));
    return {name, ...made};
}

/** The path of an endpoint, without credentials; those of devices are in no database. */
export const endpointPath = (database, endpoint) => {
    const home = `${part(place.container)}/${place.environment}`;
    return database ? `/database/1/${home}/${database}/${endpoint}` : `/device/1/${home}/${endpoint}`;
};

/** Asks Web Services as the chosen user. */
export async function call(database, endpoint, body, {signal, user = place.user, text} = {}) {
    for (let isFresh = false; ; isFresh = true) {
        const tokens = await session(user, isFresh);
        // The page is one device, whatever it asks for.
        const query = new URLSearchParams({ckAPIToken: tokens.apiToken, clientId: "dashboard"});
        if (tokens.webAuthToken) query.set("ckWebAuthToken", tokens.webAuthToken);
        const isGet = body === undefined && text === undefined;
        const response = await send(`${endpointPath(database, endpoint)}?${query}`, {
            method: isGet ? "GET" : "POST", body: isGet ? undefined : text ?? stringify(body), signal,
        });
        const next = response.headers.get("X-Apple-CloudKit-Web-Auth-Token");
        if (next && tokens.webAuthToken) {
            const {name, ...rest} = tokens;
            store.setItem(name, JSON.stringify({...rest, webAuthToken: next}));
        }
        try {
            return await answer(response);
        } catch (error) {
            // The session of a day ended, or the server began anew.
            if (isFresh || ![401, 421].includes(error.status)) throw error;
        }
    }
}

/** Changes one record; throws what the item's answer says. */
export async function modify(database, zoneID, operationType, record) {
    const body = await call(database, "records/modify", {zoneID, operations: [{operationType, record}]});
    return item(body.records[0]);
}

export function item(result) {
    if (result.serverErrorCode) throw new Failure(200, result);
    return result;
}

/** Fetches one record. */
export async function lookUp(database, zoneID, recordName) {
    const body = await call(database, "records/lookup", {zoneID, records: [{recordName}]});
    return item(body.records[0]);
}

/** Sends a file for a field; answers the field's value. */
export async function upload(database, zoneID, {recordName, recordType}, fieldName, blob) {
    const answer = await call(database, "assets/upload", {zoneID, tokens: [{recordName, recordType, fieldName}]});
    const response = await send(ownAddress(answer.tokens[0].url), {method: "POST", body: blob});
    if (!response.ok) throw new Failure(response.status);
    return (await response.json()).singleFile;
}

/** Fetches the bytes of an asset. */
export async function download(asset) {
    const response = await send(ownAddress(asset.downloadURL));
    if (!response.ok) throw new Failure(response.status);
    return response.blob().catch(() => { throw new Failure(0, {reason: "The file was cut off: the connection broke"}); });
}

/** An address that the server made, under the name by which this page knows it. */
export const ownAddress = url => { const {pathname, search} = new URL(url); return pathname + search; };

/** The schema, asked for once for each place until somebody changes it. */
const schemas = new Map();
export async function schema(isFresh) {
    const name = `${place.container}/${place.environment}`;
    if (isFresh || !schemas.has(name)) {
        const asked = operate("GET", containerPath(`schemas/${place.environment}`));
        schemas.set(name, asked);
        asked.catch(() => schemas.delete(name));
    }
    return schemas.get(name);
}

/** All requests that the server answered, one long poll for the whole page, as long as somebody listens and looks. */
class Feed {
    entries = [];
    #last = 0;
    #listeners = new Set();
    #run = null;

    /** Tells of what is known, and then of all that comes; until the signal ends. */
    listen(signal, tell) {
        this.#listeners.add(tell);
        if (this.entries.length > 0) tell(this.entries, false);
        signal.addEventListener("abort", () => {
            this.#listeners.delete(tell);
            this.#check();
        });
        this.#check();
    }

    clear() { this.entries = []; }

    constructor() { document.addEventListener("visibilitychange", () => this.#check()); }

    #check() {
        const isWanted = this.#listeners.size > 0 && document.visibilityState === "visible";
        if (isWanted && !this.#run) {
            this.#run = new AbortController();
            this.#poll(this.#run.signal);
        } else if (!isWanted && this.#run) {
            this.#run.abort();
            this.#run = null;
        }
    }

    async #poll(signal) {
        let isFirst = this.#last === 0;
        while (!signal.aborted) {
            try {
                const {entries, last} = await operate(
                    "GET", `journal?after=${this.#last}${isFirst ? "" : "&wait=25"}`, undefined, signal);
                isFirst = false;
                // A server that began anew counts from 1.
                if (last < this.#last) this.entries = [];
                this.#last = last;
                if (entries.length > 0) {
                    this.entries = [...this.entries, ...entries].slice(-1000);
                    for (const tell of this.#listeners) tell(entries, true);
                }
                await pause(200, signal);
            } catch (error) {
                if (signal.aborted) return;
                await pause(2000, signal);
            }
        }
    }
}

const pause = (milliseconds, signal) => new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); });
});

export const feed = new Feed();
