// What changed in a zone, as a device would hear of it, live.
import {call, place, feed, nameOf, askForUser} from "./api.js";
import {h, fill, refill, field, select, button, problem, copy, moment, amount, words, Room} from "./dom.js";
import {short} from "./values.js";
import {address} from "./records.js";

/** Changes that are shown, and records that a page of the feed has. */
const SHOWN = 300, PAGE = 200;
/** Records of which the last version is remembered, and the characters that all these versions may have. */
const REMEMBERED = 20_000, CHARACTERS = 8_000_000;

/** The last versions of records. The server keeps the newest alone, so what a change made of a record can be told only from here. */
class Versions {
    #known = new Map();
    /** The names of those that were read as older ones, the one that was changed longest ago last. */
    #older = [];
    #size = 0;
    /** Whether there was no room for one of them. */
    isCut = false;

    get count() { return this.#known.size; }
    get #isTooMuch() { return this.#known.size > REMEMBERED || this.#size > CHARACTERS; }

    clear() {
        this.#known.clear();
        this.#older = [];
        this.#size = 0;
        this.isCut = false;
    }

    /** Remembers a record that has changed; the room for it is that of those that were changed longest ago. */
    add(record) {
        this.take(record.recordName);
        this.#keep(record, false);
        while (this.#isTooMuch) {
            this.isCut = true;
            const older = this.#older.pop();
            if (older === undefined) this.take(this.#known.keys().next().value);
            else if (this.#known.get(older)?.isOlder) this.take(older);
        }
    }

    /** Remembers a record that was changed before all others, as long as there is room and no newer version of it. */
    addOlder(record) {
        if (this.isCut || this.#known.has(record.recordName)) return;
        this.#keep(record, true);
        this.isCut = this.#isTooMuch;
        if (this.isCut) this.take(record.recordName);
        else this.#older.push(record.recordName);
    }

    #keep({recordName, recordType, fields}, isOlder) {
        const kept = new Map(Object.entries(fields).map(([name, field]) => [name, {text: exact(field), shown: short(field)}]));
        const size = [...kept].reduce((sum, [name, {text, shown}]) => sum + name.length + text.length + shown.length, recordName.length);
        this.#known.set(recordName, {recordType, fields: kept, size, isOlder});
        this.#size += size;
    }

    /** Forgets a version, and returns it. */
    take(name) {
        const version = this.#known.get(name);
        if (version) this.#size -= version.size;
        this.#known.delete(name);
        return version;
    }
}

class Changes extends Room {
    #list = h("ol", {class: "changes", reversed: true});
    #message = h("div", {});
    #token = h("code", {class: "token"});
    #memory = h("p", {class: "note"});
    #since = h("input", {});
    #choices = h("div", {class: "choices"});
    #zoneID = null;
    #database = "private";
    #syncToken;
    #versions = new Versions();
    /** The reading of older records that is going on, and how far it came. */
    #reading = null;
    /** What is shown: another one with each choice and each replay. */
    #turn = null;
    /** Whether that is not shown as a whole yet. */
    #isBeginning = false;
    /** Whether it is known from where the zone's feed goes on. */
    #hasBegun = false;
    #isAsking = false;
    #isLate = false;

    async show() {
        fill(this, h("h1", {}, "Changes"), this.#choices, h("form", {class: "choices", role: "search", onsubmit: event => {
            event.preventDefault();
            this.#replay();
        }}, field("Since token", this.#since, "What a device with this token would get; empty for all"),
        h("p", {class: "actions"}, h("button", {}, "Replay"))),
        h("p", {}, "The newest token: ", this.#token, " ", button("Copy", () => copy(this.#token.textContent), {"aria-label": "Copy the token"})), this.#memory,
        this.#message, this.#list);
        await this.#choose();
        feed.listen(this.signal, (entries, isNews) => {
            // Anything that may have changed something is reason to look.
            const isWrite = entry => entry.container === place.container && /modify|accept|copy|zip|reset/.test(entry.endpoint);
            if (isNews && entries.some(isWrite)) this.#follow();
        });
        // What operators do stands in no journal.
        feed.listenToOperators(this.signal, () => this.#follow());
        // Nor does what another process does with the server's folder.
        const timer = setInterval(() => { if (document.visibilityState === "visible") this.#follow(); }, 10_000);
        this.signal.addEventListener("abort", () => clearInterval(timer));
    }

    async #choose() {
        if (!place.user) {
            fill(this.#message, h("p", {}, askForUser("the public database has no feed of changes.")));
            return;
        }
        const {zones} = await call(this.#database, "zones/list", undefined, {signal: this.signal});
        const feeds = zones.filter(each => each.zoneID.zoneName !== "_defaultZone");
        const key = zone => `${zone.zoneID.ownerRecordName}/${zone.zoneID.zoneName}`;
        const wanted = feeds.find(each => this.#zoneID && each.zoneID.zoneName === this.#zoneID.zoneName) ?? feeds[0];
        refill(this.#choices,
            field("Database", select(["private", "shared"], this.#database, {onchange: event => {
                this.#database = event.target.value;
                this.#zoneID = null;
                this.attempt(() => this.#choose(), this.#message);
            }})),
            field("Zone", select(feeds.map(each => [key(each), each.zoneID.zoneName]), wanted && key(wanted), {onchange: event => {
                this.#zoneID = feeds.find(each => key(each) === event.target.value).zoneID;
                this.#begin();
            }})));
        this.#zoneID = wanted?.zoneID ?? null;
        if (this.#zoneID) await this.#begin();
        else fill(this.#message, h("p", {}, "There is no zone with a feed of changes here."));
    }

    #ask(options) {
        return call(this.#database, "changes/zone", {zones: [{zoneID: this.#zoneID, ...options}]}, {signal: this.signal})
            .then(response => {
                const [zone] = response.zones;
                if (zone.serverErrorCode) throw Object.assign(new Error(zone.reason), {code: zone.serverErrorCode});
                return zone;
            });
    }

    /** Shows something else; what comes meanwhile is asked for after it, so that no change is shown twice. */
    async #anew(action) {
        const turn = this.#turn = Symbol("turn"), isCurrent = () => turn === this.#turn;
        this.#isBeginning = true;
        this.#versions.clear();
        this.#reading = null;
        for (const each of [this.#list, this.#message, this.#memory]) fill(each);
        await this.attempt(() => action(isCurrent).catch(error => { if (isCurrent()) throw error; }), this.#message);
        if (!isCurrent()) return;
        this.#isBeginning = false;
        if (this.#isLate) this.#follow();
    }

    /** Shows the newest changes, and goes on from there. */
    #begin() {
        // A token is one zone's alone.
        this.#hasBegun = false;
        this.#syncToken = undefined;
        this.#token.textContent = "";
        return this.#anew(async isCurrent => {
            const newest = await this.#ask({reverse: true, resultsLimit: PAGE});
            const {zones} = await call(this.#database, "zones/lookup", {zones: [{zoneID: this.#zoneID}]}, {signal: this.signal});
            if (!isCurrent()) return;
            this.#syncToken = zones[0].syncToken;
            this.#hasBegun = true;
            this.#token.textContent = this.#syncToken ?? "";
            this.#add(newest.records.toReversed(), false);
            this.#readOlder(newest);
        });
    }

    /** Shows what a device with some token would get. */
    #replay() {
        const token = this.#since.value.trim();
        return this.#anew(async isCurrent => {
            this.#syncToken = token || undefined;
            this.#hasBegun = true;
            await this.#fetch(false);
            if (isCurrent()) this.#readOlder({moreComing: token !== ""});
        });
    }

    /**
     * Reads the records that were changed before, without showing them, to tell what differs when somebody changes one:
     * afterwards nobody knows what it was.
     */
    async #readOlder({syncToken, moreComing}) {
        const reading = this.#reading = {isDone: false, said: "all of the zone"};
        try {
            while (moreComing && !this.#versions.isCut) {
                this.#tellMemory();
                const page = await this.#ask({reverse: true, syncToken, resultsLimit: PAGE});
                if (reading !== this.#reading) return;
                for (const record of page.records) if (!record.deleted) this.#versions.addOlder(record);
                ({syncToken, moreComing} = page);
            }
            if (this.#versions.isCut) reading.said = "those that were changed last: the page remembers no more";
        } catch {
            // What was not read says so itself, when it is changed.
            reading.said = "those that could be read";
        }
        if (reading !== this.#reading) return;
        reading.isDone = true;
        this.#tellMemory();
    }

    #tellMemory() {
        if (!this.#reading) return;
        const {isDone, said} = this.#reading, known = amount(this.#versions.count, "record");
        this.#memory.textContent = isDone ? `From now on a change shows what differs, for ${known}, ${said}.`
            : `Older records are read, to tell what differs when they are changed: ${known} so far.`;
    }

    async #follow() {
        if (!this.#zoneID) return;
        // One question at a time; what comes meanwhile is asked for after it.
        if (this.#isAsking || this.#isBeginning) { this.#isLate = true; return; }
        // What failed at the beginning is tried again.
        if (!this.#hasBegun) { this.#isLate = false; await this.#begin(); return; }
        this.#isAsking = true;
        let turn;
        try {
            do {
                this.#isLate = false;
                turn = this.#turn;
                await this.#fetch(true);
            } while (this.#isLate && !this.#isBeginning && !this.signal.aborted);
        } catch (error) {
            if (error.name === "AbortError" || turn !== this.#turn) return;
            fill(this.#message, problem(error));
            if (error.code === "CHANGE_TOKEN_EXPIRED") {
                this.#message.append(button("Fetch everything again, as a device would", () => { this.#since.value = ""; this.#replay(); }));
                this.#zoneID && (this.#isLate = false);
            }
        } finally {
            this.#isAsking = false;
        }
    }

    async #fetch(isNews) {
        for (const turn = this.#turn; ;) {
            const page = await this.#ask({syncToken: this.#syncToken, resultsLimit: PAGE});
            if (turn !== this.#turn) return;
            fill(this.#message);
            this.#syncToken = page.syncToken;
            this.#token.textContent = page.syncToken;
            this.#add(page.records, isNews);
            if (!page.moreComing || this.signal.aborted) return;
        }
    }

    #add(records, isNews) {
        for (const record of records) {
            const old = this.#versions.take(record.recordName);
            if (!record.deleted) this.#versions.add(record);
            this.#list.prepend(this.#entry(record, old, isNews));
        }
        while (this.#list.childElementCount > SHOWN) this.#list.lastElementChild.remove();
        this.#tellMemory();
    }

    #entry(record, old, isNews) {
        const where = {database: this.#database, zone: this.#zoneID.zoneName, record: record.recordName, type: record.recordType ?? ""};
        if (record.deleted) {
            return h("li", {class: isNews ? "news" : null}, h("strong", {}, record.recordName), " was deleted",
                old && words` (it was a ${old.recordType})`);
        }
        const names = old ? [...new Set([...old.fields.keys(), ...Object.keys(record.fields)])]
            .filter(name => old.fields.get(name)?.text !== exact(record.fields[name])) : [];
        const isUnknown = isNews && !old && record.created?.timestamp < record.modified?.timestamp;
        return h("li", {class: isNews ? "news" : null},
            h("a", {href: address(where)}, record.recordName), words` ${record.recordType ?? ""}, `,
            h("span", {class: "note"}, record.modified && [
                words`${moment(record.modified.timestamp)} by ${nameOf(record.modified.userRecordName)}`,
                record.modified.deviceID && words`, device ${record.modified.deviceID}`], words`, tag ${record.recordChangeTag}`,
                isUnknown && ". What differs is not known: the page has not read what it was before"),
            names.length > 0 && h("dl", {class: "difference"}, names.map(name => [h("dt", {}, name), h("dd", {},
                h("del", {}, old.fields.get(name)?.shown || "nothing"), " → ", h("ins", {}, short(record.fields[name]) || "nothing"))])));
    }
}

/** A field as a text that no other one has; where a file is to be had is no part of it, and is another address each time. */
const exact = field => JSON.stringify(field, (key, value) => key === "downloadURL" ? undefined
    : typeof value === "bigint" ? `${value}n` : Object.is(value, -0) ? "-0.0" : value);

customElements.define("ck-changes", Changes);
