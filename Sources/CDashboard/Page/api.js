// What the page asks the server: the routes for operators with their key, and CloudKit Web Services with tokens that
// those routes make.

const store = sessionStorage;

/** Why the server refused. */
export class Failure extends Error {
    constructor(status, body) {
        super(body?.reason ?? `The server answered ${status}`);
        this.status = status;
        this.code = body?.serverErrorCode ?? "";
        this.body = body;
    }
}

/** Takes the key out of the page's own address, where it came behind the sign that stays in the browser. */
export function takeKey() {
    const found = /^#key=(.+)$/.exec(location.hash);
    if (!found) return;
    store.clear();
    setKey(decodeURIComponent(found[1]));
    history.replaceState(null, "", location.pathname);
}

export function setKey(key) { store.setItem("key", key); }

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

async function answer(response) {
    const text = await response.text();
    let body = null;
    try { body = text ? parse(text) : null; } catch { /* Not JSON: the status says enough. */ }
    if (!response.ok) throw new Failure(response.status, body);
    return body;
}

/** Asks a route for operators. */
export async function operate(method, path, body, signal) {
    const response = await fetch(`/_ck/${path}`, {
        method, signal, body: body === undefined ? undefined : stringify(body),
        headers: {Authorization: `Bearer ${store.getItem("key") ?? ""}`}, cache: "no-store", credentials: "omit",
    });
    try {
        return await answer(response);
    } catch (error) {
        if (error.status === 403 && /Bearer KEY/.test(error.message)) dispatchEvent(new Event("ck-key"));
        throw error;
    }
}

export const part = text => encodeURIComponent(text);

/** Where requests go: a container, an environment, and a user or nobody. */
export const place = {
    container: store.getItem("container") ?? "",
    environment: store.getItem("environment") ?? "development",
    user: store.getItem("user") ?? "",
    choose(choice) {
        for (const [name, value] of Object.entries(choice)) {
            this[name] = value;
            store.setItem(name, value);
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
        const query = new URLSearchParams({ckAPIToken: tokens.apiToken});
        if (tokens.webAuthToken) query.set("ckWebAuthToken", tokens.webAuthToken);
        // What reads a feed is a device, and this page is to be told from others.
        if (endpoint.startsWith("changes/")) query.set("clientId", "dashboard");
        const isGet = body === undefined && text === undefined;
        const response = await fetch(`${endpointPath(database, endpoint)}?${query}`, {
            method: isGet ? "GET" : "POST", body: isGet ? undefined : text ?? stringify(body), signal,
            cache: "no-store", credentials: "omit",
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
    const response = await fetch(ownAddress(answer.tokens[0].url), {method: "POST", body: blob, credentials: "omit"});
    if (!response.ok) throw new Failure(response.status);
    return (await response.json()).singleFile;
}

/** Fetches the bytes of an asset. */
export async function download(asset) {
    const response = await fetch(ownAddress(asset.downloadURL), {credentials: "omit"});
    if (!response.ok) throw new Failure(response.status);
    return response.blob();
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
                await pause(error.status === 403 ? 5000 : 2000, signal);
            }
        }
    }
}

const pause = (milliseconds, signal) => new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); });
});

export const feed = new Feed();
