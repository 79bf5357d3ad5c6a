// What the page asks the server: the routes for operators with their key, and CloudKit Web Services with tokens that
// those routes make.

const store = sessionStorage;

/** Why the server refused. */
export class Failure extends Error {
    constructor(status, body) {
        super(body?.reason ?? `The response has the status ${status} and no reason; look at the server's log, or at that of a proxy before it`);
        this.status = status;
        this.code = body?.serverErrorCode ?? "";
        this.body = body;
    }
}

/** Takes the key out of the page's own address, where it came behind the sign that stays in the browser. */
export function takeKey(back = "") {
    const found = /^#key=(.+)$/.exec(location.hash);
    if (!found) return false;
    history.replaceState(null, "", location.pathname + location.search + back);
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
    // JSON.stringify has no 64-bit numbers, and takes the sign from -0.0.
    const raw = (text, part) => JSON.rawJSON ? JSON.rawJSON(text) : Number(part);
    return JSON.stringify(value, (_, part) => typeof part === "bigint" ? raw(String(part), part)
        : Object.is(part, -0) ? raw("-0.0", part) : part, indent);
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

/** The identifiers of the page's own last requests, as the server tells them. */
const ownRequests = new Set();

/** Whether the page itself has sent what stands in the journal. */
export const isOwn = entry => ownRequests.has(entry.id);

/** Sends a request; one that gets no response says so, and the server is looked for. */
export async function send(url, options) {
    try {
        const response = await fetch(url, {cache: "no-store", credentials: "omit", ...options});
        const id = response.headers.get("X-Apple-Request-UUID");
        if (id) ownRequests.add(id);
        if (ownRequests.size > 1000) ownRequests.delete(ownRequests.values().next().value);
        return response;
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw noResponse();
    }
}

/** Looks for the server, and returns what to say meanwhile. */
export function noResponse() {
    connection.look();
    return new Failure(0, {reason: "There is no response: the server was stopped, or the connection broke"});
}

/** The text of a response that may be cut off. */
export async function textOf(response) {
    try {
        return await response.text();
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new Failure(0, {reason: "The response was cut off: the connection broke"});
    }
}

/** What a response says; throws why the server refused. */
export async function bodyOf(response) {
    const text = await textOf(response);
    let body;
    try { body = parse(text); } catch { /* A refusal's status says enough. */ }
    if (!response.ok) throw new Failure(response.status, body);
    if (!body) throw new Failure(0, {reason: "The response is not the server's: it was cut off, or a proxy before the server gave another one"});
    return body;
}

/**
 * Asks a route for operators.
 *
 * A change that gets no response is sent once more, as browsers do by themselves: by its key the server carries it out once.
 */
export async function operate(method, path, body, signal) {
    if (refusal) throw refusal;
    const key = store.getItem("key") ?? "";
    // A request carries nothing else.
    if (!/^[ -~]*$/.test(key)) refuse(new Failure(403, {reason: "The key has a character that no key has"}));
    const isChange = method !== "GET";
    const headers = {Authorization: `Bearer ${key}`, ...(isChange ? {"Idempotency-Key": identifier()} : {})};
    const ask = async () => bodyOf(await send(`/_ck/${path}`,
        {method, signal, headers, body: body === undefined ? undefined : stringify(body)}));
    try {
        return await ask().catch(error => {
            if (!isChange || error.status !== 0) throw error;
            return ask();
        });
    } catch (error) {
        // Meanwhile the person may have given another one.
        if (/Bearer KEY|not this server's|with a wrong key/.test(error.message) && key === (store.getItem("key") ?? "")) refuse(error);
        throw error;
    }
}

/** Whether the key of this tab was refused, or there is none. */
export const needsKey = () => refusal !== null;

function refuse(error) {
    refusal = Object.assign(error, {needsKey: true});
    dispatchEvent(new Event("ck-key"));
    throw error;
}

export const part = text => encodeURIComponent(text);

const environments = ["development", "production"];

/** Where requests go: a container, an environment, and a user or nobody. The first two stand in the page's address, so that
    it leads to the same place in another tab. */
export const place = {
    container: store.getItem("container") ?? "",
    environment: store.getItem("environment") ?? environments[0],
    user: "",
    /** The user whom the person chose for the container, empty for nobody; null before a choice. */
    get chosenUser() { return store.getItem(`user/${this.container}`); },
    /** Goes on elsewhere, or as somebody else, without telling the page. */
    set(choice) {
        for (const [name, value] of Object.entries(choice)) {
            this[name] = value;
            store.setItem(name === "user" ? `user/${this.container}` : name, value);
        }
        const {container, environment} = this;
        const query = new URLSearchParams({container, ...(environment === environments[0] ? {} : {environment})});
        if (container) history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`);
    },
    /** Where the address leads. */
    get inAddress() {
        const query = new URLSearchParams(location.search);
        const container = query.get("container") ?? this.container;
        const named = query.get("environment") ?? (query.has("container") ? environments[0] : this.environment);
        return {container, environment: environments.includes(named) ? named : environments[0]};
    },
    isElsewhere() {
        const {container, environment} = this.inAddress;
        return container !== this.container || environment !== this.environment;
    },
    /** Goes where the address leads, without telling the page; returns whether that is elsewhere. */
    follow() {
        const isElsewhere = this.isElsewhere();
        if (isElsewhere) this.set(this.inAddress);
        return isElsewhere;
    },
    choose(choice) {
        this.set(choice);
        dispatchEvent(new Event("ck-place"));
    },
};

/** Whether this page may act as users, which only the server's own machine may. */
export const acting = {isAllowed: true};

/** Says what to do where a room needs a user. */
export const askForUser = why => acting.isAllowed ? `Choose above as whom to act: ${why}`
    : `Here nobody acts as a user, because other machines may reach the server. Open the page of a server on loopback: ${why}`;

/** What people call the users of the container, by record name. */
export const people = new Map();

/** Remembers what users are called; those whose names look the same are told apart by the beginnings of their record names. */
export function setPeople(users) {
    // Without what nobody sees.
    const look = name => name.normalize("NFKC").replace(/[\p{C}\s]/gu, "").toLowerCase();
    const counts = new Map();
    for (const user of users) counts.set(look(fullName(user)), (counts.get(look(fullName(user))) ?? 0) + 1);
    people.clear();
    for (const user of users) {
        const name = fullName(user), {userRecordName} = user;
        people.set(userRecordName, counts.get(look(name)) > 1 && name !== userRecordName ? `${name} (${userRecordName.slice(0, 8)}…)` : name);
    }
}

export const fullName = user => [user.givenName, user.familyName].filter(Boolean).join(" ") || user.emailAddress || user.userRecordName;

/** What people call a user, or the record name. */
export const nameOf = user => people.get(user) ?? user ?? "nobody known";

export const containerPath = (rest = "") => `containers/${part(place.container)}/${rest}`;

async function session(user, isFresh) {
    const name = `session/${place.container}/${place.environment}/${user}`;
    const kept = isFresh ? null : store.getItem(name);
    if (kept) return {name, ...JSON.parse(kept)};
    const made = await operate("POST", containerPath("sessions"), {
        environment: place.environment, ...(user ? {userRecordName: user} : {}),
    }).catch(error => {
        // Whoever asks may be deleted.
        if (isGone(error)) dispatchEvent(new Event("ck-people"));
        throw error;
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
            return await bodyOf(response);
        } catch (error) {
            // The session of a day ended, or the server began anew.
            if (isFresh || ![401, 421].includes(error.status)) throw error;
        }
    }
}

/** A new name, which nobody else makes; browsers have `randomUUID` on secure pages only. */
export function identifier() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    const digits = [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("").toUpperCase();
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** What was sent for a record and never got a response, by record: the server may have carried it out. */
const unanswered = new Map();

/**
 * Changes one record; throws what the item's response says.
 *
 * A change whose response was lost may have been carried out, and browsers send a request without response again by
 * themselves. As in an app of CloudKit's, the record is fetched and compared before a failure or a conflict is believed.
 */
export async function modify(database, zoneID, operationType, record) {
    const {recordName, recordType, recordChangeTag} = record;
    const name = JSON.stringify([place.container, place.environment, place.user, database, zoneID.ownerRecordName, zoneID.zoneName, recordName]);
    try {
        const body = await call(database, "records/modify", {zoneID, operations: [{operationType, record}]});
        const result = item(body.records[0]);
        unanswered.delete(name);
        return result;
    } catch (error) {
        const isLost = error.status === 0;
        const isDelete = /delete/i.test(operationType);
        // The first try may have arrived: browsers send again by themselves.
        if (!isLost && !(isDelete ? isGone(error) : error.code === "CONFLICT")) throw error;
        const earlier = unanswered.get(name) ?? [];
        if (isLost) unanswered.set(name, [...earlier, record]);
        const fails = what => isLost ? new Failure(0, {reason: `${error.message}. ${what}`}) : error;
        let found = null;
        try {
            found = await lookUp(database, zoneID, recordName);
        } catch (why) {
            // The zone of others goes with the part that one had in it.
            if (!isGone(why)) throw fails("Whether the change was made is not known; try again, it is not made twice");
        }
        if (isDelete) {
            if (!found) return {recordName, recordType, deleted: true};
        } else if (found && found.recordChangeTag !== recordChangeTag) {
            if (holds(found, record)) return found;
            // What somebody wanted before, and wants otherwise now.
            if (!isLost && earlier.some(each => holds(found, each))) {
                unanswered.delete(name);
                return modify(database, zoneID, "update", {...record, recordChangeTag: found.recordChangeTag});
            }
        }
        throw fails("The change was not made; try again");
    }
}

/** Whether the server says that there is no such thing, or no zone in which it could be. */
const isGone = error => /NOT_FOUND$/.test(error.code);

/**
 * Does what can be done twice, such as deleting by name; a response that was lost, or that says that there is nothing to
 * delete, is no failure where `isDone` finds what was wanted.
 */
export async function ensure(action, isDone) {
    try {
        await action();
    } catch (error) {
        const isLost = error.status === 0;
        if (!isLost && !isGone(error)) throw error;
        const fails = what => isLost ? new Failure(0, {reason: `${error.message}. ${what}`}) : error;
        const found = await isDone().catch(() => { throw fails("Whether it was done is not known; try again"); });
        if (!found) throw fails("It was not done; try again");
    }
}

/** Whether a record on the server is as it was sent; who takes part in a share is told in other words than it was sent. */
function holds(found, {recordType, fields = {}, publicPermission, participants}) {
    return !participants && found.recordType === recordType && (publicPermission ?? found.publicPermission) === found.publicPermission
        && Object.entries(fields).every(([name, {value}]) => isSame(value, found.fields?.[name]?.value));
}

/** Whether a value is the one that was sent; the server adds to references, and keeps no receipts of files. */
function isSame(sent, kept) {
    if (Array.isArray(sent)) {
        const values = kept ?? [];
        return sent.length === values.length && sent.every((each, index) => isSame(each, values[index]));
    }
    if (typeof sent !== "object" || sent === null) return (sent ?? null) === (kept ?? null);
    const shared = Object.keys(sent).filter(key => key in (kept ?? {}));
    return shared.length > 0 && shared.every(key => isSame(sent[key], kept[key]));
}

export function item(result) {
    if (!result) throw new Failure(0, {reason: "The response says nothing about what was asked for"});
    if (result.serverErrorCode) throw new Failure(200, result);
    return result;
}

/** Fetches one record. */
export async function lookUp(database, zoneID, recordName) {
    const body = await call(database, "records/lookup", {zoneID, records: [{recordName}]});
    return item(body.records[0]);
}

/** Sends a file for a field; returns the field's value. */
export async function upload(database, zoneID, {recordName, recordType}, fieldName, blob) {
    const {tokens} = await call(database, "assets/upload", {zoneID, tokens: [{recordName, recordType, fieldName}]});
    // A file that was changed after it was chosen says so, and is no lost connection.
    await blob.slice(0, 1).arrayBuffer();
    return (await bodyOf(await send(ownAddress(item(tokens[0]).url), {method: "POST", body: blob}))).singleFile;
}

/** Fetches the bytes of an asset. */
export async function download(asset) {
    const response = await send(ownAddress(asset.downloadURL));
    if (!response.ok) await bodyOf(response);
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

/** All requests that the server responded to, one long poll for the whole page, as long as somebody listens and looks. */
class Feed {
    entries = [];
    #last = 0;
    #listeners = new Set();
    /** How often operators have changed records, and who wants to know. */
    #operations;
    #watchers = new Set();
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

    /** Tells that operators may have changed records, by a schema or a snapshot; while somebody listens. */
    listenToOperators(signal, tell) {
        this.#watchers.add(tell);
        signal.addEventListener("abort", () => this.#watchers.delete(tell));
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
                const {entries, last, operations} = await operate(
                    "GET", `journal?after=${this.#last}${isFirst ? "" : `&wait=25&operations=${this.#operations}`}`, undefined, signal);
                isFirst = false;
                const isOther = this.#operations !== undefined && operations !== this.#operations;
                this.#operations = operations;
                if (isOther) for (const tell of this.#watchers) tell();
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

/** Returns the status of a request of the journal, and the loss of its response where a fault took it. */
export const statusOf = entry => String(entry.status) + (entry.loss ? ` ${entry.loss}` : "");
