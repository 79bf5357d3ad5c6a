// What changed in a zone, as a device would hear of it, live.
import {call, place, feed, nameOf} from "./api.js";
import {h, fill, refill, field, select, button, problem, copy, moment, words, Room} from "./dom.js";
import {short} from "./values.js";
import {address} from "./records.js";

/** Changes that are shown, and versions of records that are remembered to tell what differs. */
const SHOWN = 300, REMEMBERED = 20_000;

class Changes extends Room {
    #list = h("ol", {class: "changes", reversed: true});
    #message = h("div", {});
    #token = h("code", {class: "token"});
    #since = h("input", {});
    #choices = h("div", {class: "choices"});
    #zoneID = null;
    #database = "private";
    #syncToken;
    #known = new Map();
    #isAsking = false;
    #isLate = false;

    async show() {
        fill(this, h("h1", {}, "Changes"), this.#choices, h("form", {class: "choices", role: "search", onsubmit: event => {
            event.preventDefault();
            this.#replay();
        }}, field("Since token", this.#since, "What a device with this token would get; empty for all"),
        h("p", {class: "actions"}, h("button", {}, "Replay"))),
        h("p", {}, "The newest token: ", this.#token, " ", button("Copy", () => copy(this.#token.textContent), {"aria-label": "Copy the token"})),
        this.#message, this.#list);
        await this.#choose();
        feed.listen(this.signal, (entries, isNews) => {
            // Anything that may have changed something is reason to look.
            const isWrite = entry => entry.container === place.container && /modify|accept|copy|zip|reset/.test(entry.endpoint);
            if (isNews && entries.some(isWrite)) this.#follow();
        });
        // Snapshots and resets stand in no journal.
        const timer = setInterval(() => { if (document.visibilityState === "visible") this.#follow(); }, 10_000);
        this.signal.addEventListener("abort", () => clearInterval(timer));
    }

    async #choose() {
        if (!place.user) {
            fill(this.#message, h("p", {}, "Choose above as whom to act: the public database has no feed of changes."));
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
            .then(answer => {
                const [zone] = answer.zones;
                if (zone.serverErrorCode) throw Object.assign(new Error(zone.reason), {code: zone.serverErrorCode});
                return zone;
            });
    }

    /** Shows the newest changes, and goes on from there. */
    async #begin() {
        this.#known.clear();
        fill(this.#list);
        fill(this.#message);
        await this.attempt(async () => {
            const newest = await this.#ask({reverse: true, resultsLimit: 200});
            const {zones} = await call(this.#database, "zones/lookup", {zones: [{zoneID: this.#zoneID}]}, {signal: this.signal});
            this.#syncToken = zones[0].syncToken;
            this.#token.textContent = this.#syncToken ?? "";
            this.#add(newest.records.toReversed(), false);
        }, this.#message);
    }

    /** Shows what a device with some token would get. */
    async #replay() {
        const token = this.#since.value.trim();
        this.#known.clear();
        fill(this.#list);
        fill(this.#message);
        await this.attempt(async () => {
            this.#syncToken = token || undefined;
            await this.#fetch(false);
        }, this.#message);
    }

    async #follow() {
        if (!this.#zoneID) return;
        // One question at a time; what comes meanwhile is asked for after it.
        if (this.#isAsking) { this.#isLate = true; return; }
        this.#isAsking = true;
        try {
            do {
                this.#isLate = false;
                await this.#fetch(true);
            } while (this.#isLate && !this.signal.aborted);
        } catch (error) {
            if (error.name === "AbortError") return;
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
        for (;;) {
            const page = await this.#ask({syncToken: this.#syncToken, resultsLimit: 200});
            fill(this.#message);
            this.#syncToken = page.syncToken;
            this.#token.textContent = page.syncToken;
            this.#add(page.records, isNews);
            if (!page.moreComing || this.signal.aborted) return;
        }
    }

    #add(records, isNews) {
        for (const record of records) {
            const old = this.#known.get(record.recordName);
            this.#known.delete(record.recordName);
            if (!record.deleted) this.#known.set(record.recordName, record);
            if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value);
            this.#list.prepend(this.#entry(record, old, isNews));
        }
        while (this.#list.childElementCount > SHOWN) this.#list.lastElementChild.remove();
    }

    #entry(record, old, isNews) {
        const where = {database: this.#database, zone: this.#zoneID.zoneName, record: record.recordName, type: record.recordType ?? ""};
        if (record.deleted) {
            return h("li", {class: isNews ? "news" : null}, h("strong", {}, record.recordName), " was deleted",
                old && words` (it was a ${old.recordType})`);
        }
        const names = old ? [...new Set([...Object.keys(old.fields), ...Object.keys(record.fields)])]
            .filter(name => JSON.stringify(old.fields[name], big) !== JSON.stringify(record.fields[name], big)) : [];
        return h("li", {class: isNews ? "news" : null},
            h("a", {href: address(where)}, record.recordName), words` ${record.recordType ?? ""}, `,
            h("span", {class: "note"}, record.modified && [
                words`${moment(record.modified.timestamp)} by ${nameOf(record.modified.userRecordName)}`,
                record.modified.deviceID && words`, device ${record.modified.deviceID}`], words`, tag ${record.recordChangeTag}`),
            names.length > 0 && h("dl", {class: "difference"}, names.map(name => [h("dt", {}, name), h("dd", {},
                h("del", {}, short(old.fields[name]) || "nothing"), " → ", h("ins", {}, short(record.fields[name]) || "nothing"))])));
    }
}

const big = (_, value) => typeof value === "bigint" ? `${value}n` : value;

customElements.define("ck-changes", Changes);
