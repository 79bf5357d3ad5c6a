// The records of a zone, type by type.
import {call, item, ensure, place, schema, feed, isOwn, nameOf} from "./api.js";
import {h, fill, refill, field, select, button, confirm, notify, problem, dialog, moment, words, Room} from "./dom.js";
import {short, typeName} from "./values.js";
import "./grid.js";
import "./query.js";
import {openRecord, newRecord} from "./record.js";

const PAGE = 200;
/** Pages of rows that are kept: what was scrolled past is asked for again. */
const KEPT = 12;
/** The width of a point in time. */
const MOMENT = "minmax(13rem, 1fr)";

/** The rows of a query, page by page, however many there are. */
class QuerySource {
    count = 0;
    isComplete = false;
    problem = null;
    changed = () => {};
    #pages = new Map();
    #loading = new Set();
    /** The marker with which each page begins. */
    #markers = [undefined];

    constructor(ask) { this.ask = ask; }

    row(index) {
        const page = Math.floor(index / PAGE);
        const rows = this.#pages.get(page);
        if (rows) return rows[index % PAGE];
        if (page < this.#markers.length && !this.problem) this.#load(page);
        return undefined;
    }

    /** Shows a record as it is now where it was; returns whether it was there. */
    update(record) {
        for (const rows of this.#pages.values()) {
            const index = rows.findIndex(each => each.recordName === record.recordName);
            if (index < 0) continue;
            rows[index] = record;
            this.changed();
            return true;
        }
        return false;
    }

    async #load(page) {
        if (this.#loading.has(page)) return;
        this.#loading.add(page);
        try {
            const response = await this.ask({continuationMarker: this.#markers[page], resultsLimit: PAGE});
            const rows = response.records.filter(record => !record.serverErrorCode);
            this.#pages.delete(page);
            this.#pages.set(page, rows);
            if (this.#pages.size > KEPT) this.#pages.delete(this.#pages.keys().next().value);
            if (page === this.#markers.length - 1) {
                this.count = page * PAGE + rows.length;
                if (response.continuationMarker && rows.length === PAGE) this.#markers.push(response.continuationMarker);
                else this.isComplete = true;
            }
        } catch (error) {
            if (error.name === "AbortError") return;
            this.problem = error;
            this.isComplete = true;
            this.failed?.(error);
        } finally {
            this.#loading.delete(page);
        }
        this.changed();
    }
}

class Records extends Room {
    #grid = h("ck-grid", {label: "Records", opens: true});
    #builder = h("ck-query");
    #choices = h("div", {class: "choices"});
    #message = h("div", {});
    #stale = h("p", {class: "note", role: "status", hidden: true});
    #zones = [];
    #types = [];
    #shown = "";
    #opened = null;
    #source = null;
    #asked = null;

    /** Where the address of the page leads. */
    get where() {
        const query = new URLSearchParams(location.hash.split("?")[1] ?? "");
        return {
            database: databaseOf(query), zone: query.get("zone") ?? "",
            owner: query.get("owner") ?? "", type: query.get("type") ?? "", record: query.get("record") ?? "",
        };
    }

    go(change) { location.hash = address({...this.where, record: "", ...change}); }

    async show() {
        fill(this, h("h1", {}, "Records"), this.#choices, this.#builder, this.#message, this.#stale, this.#grid);
        this.#builder.addEventListener("ck-query", () => this.#search());
        this.#builder.addEventListener("ck-index", event => {
            this.#types = typesOf(event.detail);
            // What lacked the index may be found now.
            if (this.#message.querySelector(".problem")) this.#search();
        });
        this.#grid.addEventListener("ck-open", event => this.go({record: event.detail.recordName}));
        // A link in a record may lead to another room.
        this.signal.addEventListener("abort", () => this.#opened?.close());
        await this.navigate();
        // What somebody else saves makes new types.
        feed.listen(this.signal, (entries, isNews) => {
            if (isNews && this.#types.length === 0 && entries.some(each => each.endpoint === "records/modify")) this.attempt(() => this.#choose(), this.#message);
            // The page's own requests are known as such once they have a response.
            if (isNews) setTimeout(() => { if (entries.some(each => this.#concerns(each))) this.#markStale(); }, 500);
        });
    }

    /** Whether somebody else's request may have changed what the table shows. */
    #concerns(entry) {
        const [environment, database] = (entry.database ?? "").split("/");
        if (entry.container !== place.container || environment !== place.environment || entry.status !== 200 || isOwn(entry)
            || !/^(records\/(modify|copy|accept)|zones\/modify)/.test(entry.endpoint)) return false;
        const here = this.where.database;
        return here === "private" ? database === "shared" || (database === "private" && entry.user === place.user)
            : (here === "public") === (database === "public");
    }

    #markStale() {
        if (!this.#source || !this.#stale.hidden) return;
        fill(this.#stale, "Records of this database were changed elsewhere since these rows were read. ",
            button("Read them again", () => this.attempt(() => this.#choose(), this.#message)));
        this.#stale.hidden = false;
    }

    /** Shows what the address of the page says. */
    async navigate() {
        await this.attempt(async () => {
            const where = this.where;
            const before = this.#opened;
            this.#opened = null;
            before?.close();
            const shown = JSON.stringify([where.database, where.zone, where.owner, where.type]);
            if (shown !== this.#shown) {
                this.#shown = shown;
                await this.#choose();
            }
            if (where.record) {
                const here = location.hash;
                const opened = await openRecord(where.database, this.zoneID, where.record, {
                    isLeft: () => !this.isConnected || location.hash !== here,
                    changed: record => this.#changed(record), link: change => address({...this.where, ...change}),
                    graph: name => `#/graph?${address({...this.where, type: "", record: name}).split("?")[1]}`,
                });
                this.#opened = opened;
                // Closing leads back to the table, unless the address leads elsewhere already.
                opened?.addEventListener("close", () => {
                    if (this.#opened === opened && this.isConnected) this.go({});
                });
                if (!opened && this.isConnected && location.hash === here) this.go({});
            }
        }, this.#message);
    }

    get zoneID() {
        const {zone, owner} = this.where;
        const found = this.#zones.find(each => each.zoneName === zone && (!owner || each.ownerRecordName === owner));
        return found ?? this.#zones[0] ?? {zoneName: zone || "_defaultZone"};
    }

    async #choose() {
        const {database, type, record} = this.where;
        // What a person chooses meanwhile goes before what is chosen here.
        const asked = this.#asked = Symbol("choice");
        fill(this.#message);
        // Somebody may have saved records of another type since it was asked for; why it cannot be read is said where it is used.
        schema(true).catch(() => {});
        let zones = [];
        try {
            ({zones} = await call(database, "zones/list"));
        } catch (error) {
            fill(this.#message, problem(error));
        }
        const {outline} = await schema();
        if (asked !== this.#asked) return;
        this.#zones = zones.map(each => each.zoneID);
        tellOfLostZone(this.where, this.zoneID, this.#zones.length);
        this.#types = typesOf(outline);
        const key = zone => `${zone.ownerRecordName ?? ""}/${zone.zoneName}`;
        const databases = place.user ? ["private", "public", "shared"] : ["public"];
        refill(this.#choices,
            field("Database", select(databases, database,
                {onchange: event => this.go({database: event.target.value, zone: "", owner: "", type: ""})})),
            field("Zone", select(this.#zones.map(each => [key(each), database === "shared"
                ? `${each.zoneName} of ${nameOf(each.ownerRecordName)}` : each.zoneName]), key(this.zoneID),
            {onchange: event => {
                const [owner, ...name] = event.target.value.split("/");
                this.go({zone: name.join("/"), owner: database === "shared" ? owner : "", type: ""});
            }})),
            field("Type", select(this.#types.map(each => each.name), type,
                {onchange: event => this.go({type: event.target.value})})),
            h("p", {class: "actions"},
                button("New record", () => this.#make(), {class: "main"}),
                database === "private" && button("New zone", () => this.#makeZone()),
                database === "private" && this.zoneID.zoneName !== "_defaultZone"
                    && button("Delete zone", () => this.#removeZone(), {class: "danger"})));
        if (!this.#types.some(each => each.name === type) && this.#zones.length > 0) {
            const found = await this.#fullType();
            if (asked !== this.#asked) return;
            if (type) notify(found ? words`There is no type ${type}; what is shown is ${found}` : words`There is no type ${type}`);
            // One entry of the history is enough for what was not chosen.
            history.replaceState(null, "", address({...this.where, type: found, zone: this.where.zone || this.zoneID.zoneName, record}));
            const {zone, owner} = this.where;
            this.#shown = JSON.stringify([database, zone, owner, found]);
            const menu = this.#choices.querySelectorAll("select")[2];
            if (found) menu.value = found;
        }
        this.#search(true);
    }

    /** The first type that the zone has records of, or the first at all. */
    async #fullType() {
        for (const {name} of this.#types.slice(0, 30)) {
            try {
                const {records} = await call(this.where.database, "records/query",
                    {zoneID: this.zoneID, query: {recordType: name}, resultsLimit: 1, desiredKeys: []});
                if (records.length > 0) return name;
            } catch { /* A type that cannot be listed says so when it is chosen. */ }
        }
        return this.#types[0]?.name ?? "";
    }

    #search(isNewPlace) {
        const {database, type} = this.where;
        const outline = this.#types.find(each => each.name === type);
        const zoneID = this.zoneID;
        if (isNewPlace) this.#builder.show(outline, {database, zone: zoneID.zoneName});
        this.#builder.hidden = !outline;
        this.#grid.hidden = !outline;
        if (!outline) {
            if (!this.#message.firstElementChild) {
                fill(this.#message, h("p", {}, this.#zones.length === 0
                    ? "There are no zones here." : place.environment === "production"
                        ? "There are no types yet; deploy the schema of development in the room Schema."
                        : "There are no records yet; the first one that is saved makes its type."));
            }
            return;
        }
        this.attempt(async () => {
            const query = this.#builder.build();
            const source = new QuerySource(page => call(database, "records/query", {zoneID, query, ...page}, {signal: this.signal}));
            source.failed = error => fill(this.#message, problem(error));
            fill(this.#message);
            this.#stale.hidden = true;
            this.#source = source;
            this.#grid.show(this.#columns(outline), source);
        }, this.#message);
    }

    #columns(outline) {
        const own = outline.fields.filter(each => !each.name.startsWith("___"));
        return [
            {label: "recordName", text: record => record.recordName, kind: () => "name"},
            ...own.map(each => ({
                label: each.name, note: typeName(each),
                text: record => short(record.fields[each.name]), width: each.type === "TIMESTAMP" ? MOMENT : undefined,
                kind: () => /^(INT64|DOUBLE)$/.test(each.type) ? "number" : "",
            })),
            {label: "modified", width: MOMENT, text: record => record.modified ? moment(record.modified.timestamp) : ""},
            {label: "tag", text: record => record.recordChangeTag ?? ""},
        ];
    }

    #make() {
        const {database, type} = this.where;
        newRecord(database, this.zoneID, type, {changed: async record => {
            if (record.recordType === type) { await this.#changed(record); return; }
            const here = location.hash;
            await schema(true);
            this.#shown = "";
            // What a person chooses meanwhile goes before.
            if (location.hash === here) this.go({type: record.recordType});
            else await this.navigate();
        }});
    }

    /** Shows a record as it is now, without losing the place in the table where that is possible. */
    async #changed(record) {
        const outline = this.#types.find(each => each.name === record.recordType);
        const isKnown = Object.keys(record.fields ?? {}).every(name => outline?.fields.some(each => each.name === name));
        if (!isKnown) {
            const {outline: news} = await schema(true);
            this.#types = typesOf(news);
        }
        if (isKnown && !record.deleted && this.#source?.update(record)) return;
        if (this.isConnected) this.#search(!isKnown);
    }

    #makeZone() {
        const input = h("input", {required: true, maxlength: 255});
        const form = h("form", {onsubmit: async event => {
            event.preventDefault();
            await this.attempt(async () => {
                await modifyZone("create", {zoneName: input.value});
                element.close();
                notify(words`The zone ${input.value} is there`);
                this.#shown = "";
                if (this.where.zone === input.value) await this.navigate();
                else this.go({zone: input.value, type: ""});
            }, form);
        }}, field("Name", input), h("footer", {}, h("button", {class: "main"}, "Make")));
        const element = dialog("New zone", form);
        input.focus();
    }

    async #removeZone() {
        const {zoneID} = this, name = zoneID.zoneName;
        if (!await confirm("Delete zone", words`The zone ${name} is deleted with every record and share in it, for everybody whom it is `
            .concat("shared with. Only a snapshot brings it back."), "Delete zone")) return;
        await this.attempt(async () => {
            await modifyZone("delete", zoneID);
            notify(words`The zone ${name} is deleted`);
            this.#shown = "";
            this.go({zone: "", type: ""});
        }, this.#message);
    }
}

/** The types of a schema that have records of their own. */
const typesOf = outline => outline.recordTypes.filter(each => each.name !== "Users");

/** Makes or deletes a zone of the user. */
async function modifyZone(operationType, zoneID) {
    await ensure(async () => {
        item((await call("private", "zones/modify", {operations: [{operationType, zone: {zoneID}}]})).zones[0]);
    }, async () => {
        const {zones} = await call("private", "zones/list");
        return zones.some(each => each.zoneID.zoneName === zoneID.zoneName) === (operationType === "create");
    });
}

/** The database that an address names, or the one in which a person begins. */
export function databaseOf(query) {
    const named = query.get("database");
    return ["private", "public", "shared"].includes(named) ? named : place.user ? "private" : "public";
}

/** Says that an address leads to a zone that is not there, so that nobody takes another one for it. */
export function tellOfLostZone({zone}, shown, count) {
    if (zone && count > 0 && shown.zoneName !== zone) notify(words`There is no zone ${zone} here; what is shown is ${shown.zoneName}`);
}

/** The address of a place in this room. */
export function address({database, zone, owner, type, record}) {
    const query = new URLSearchParams(Object.entries({database, zone, owner, type, record}).filter(([, value]) => value));
    return `#/records?${query}`;
}

customElements.define("ck-records", Records);
