// One record: what stands in it, what leads to it, and what may be done with it.
import {call, modify, lookUp, identifier, upload, download, schema, place, endpointPath, stringify, nameOf} from "./api.js";
import {h, fill, field, select, button, dialog, confirm, notify, problem, copy, moment, bytes, amount, words, message} from "./dom.js";
import {typeName, kindsIn, editable, isLong, read, short, swift, swiftText, shell} from "./values.js";

/** Shows a record; returns its dialog, or nothing when there is no such record. */
export async function openRecord(database, zoneID, recordName, room) {
    let record;
    try {
        record = await lookUp(database, zoneID, recordName);
    } catch (error) {
        if (!room.isLeft()) notify(words`${recordName}: ${message(error)}`);
        return null;
    }
    if (room.isLeft()) return null;
    const body = h("ck-record");
    const element = dialog(recordName, body, h("div", {class: "messages", role: "status", "aria-live": "polite"}));
    element.classList.add("wide");
    body.show(database, zoneID, record, room, element);
    return element;
}

class RecordPage extends HTMLElement {
    #edits = new Map();

    show(database, zoneID, record, room, element) {
        Object.assign(this, {database, zoneID, record, room, element});
        element.hasEdits = () => this.#edits.size > 0;
        this.#draw();
    }

    #draw() {
        const {record} = this;
        this.#edits.clear();
        const names = Object.keys(record.fields).sort(), added = new Set();
        this.fields = h("div", {class: "fields"}, names.map(name => this.#row(name, record.fields[name])));
        const backward = h("div", {}, h("p", {class: "note"}, "Looking…"));
        fill(this,
            h("form", {onsubmit: event => { event.preventDefault(); this.#save(); }}, this.fields,
                h("p", {class: "actions"}, h("button", {class: "main"}, "Save"),
                    button("Add a field", () => addField(this.database, record.recordType, new Set([...names, ...added]), (name, kind) => {
                        added.add(name);
                        const row = inputFor(name, kind, edit => this.#edits.set(name, edit), () => {
                            row.remove();
                            added.delete(name);
                            this.#edits.delete(name);
                        });
                        this.fields.append(row);
                        return row;
                    })),
                    button("Delete", () => this.#remove(), {class: "danger"}),
                    button("Copy as Swift", () => copy(asSwift(record))),
                    button("Copy as JSON", () => copy(stringify(record, 2))),
                    button("Copy as curl", () => copy(asCurl(this.database, this.zoneID, record))))),
            h("h3", {}, "System fields"), this.#system(),
            h("p", {}, h("a", {href: this.room.graph(record.recordName)}, "In the graph")), h("h3", {}, "Referred to by"), backward);
        this.#findReferences(backward);
    }

    #link(reference) {
        const zone = reference.zoneID?.zoneName ?? this.zoneID.zoneName;
        const elsewhere = zone === this.zoneID.zoneName ? {} : {zone, type: ""};
        return h("a", {href: this.room.link({record: reference.recordName, ...elsewhere})}, reference.recordName);
    }

    #system() {
        const {record} = this;
        const stamp = each => each && [words`${moment(each.timestamp)} by ${nameOf(each.userRecordName)}`,
            each.deviceID && words`, device ${each.deviceID}`];
        const rows = [
            ["Type", record.recordType], ["Zone", this.zoneID.zoneName], ["Change tag", record.recordChangeTag],
            ["Created", stamp(record.created)], ["Modified", stamp(record.modified)],
            ["Parent", record.parent && this.#chain(record.parent)],
            ["Share", record.share && this.#link(record.share)], ["Link", record.shortGUID],
        ];
        return h("dl", {}, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    }

    /** The parent and what is above it. */
    #chain(parent) {
        const list = h("span", {}, this.#link(parent));
        const follow = async (reference, depth) => {
            const above = await lookUp(this.database, this.zoneID, reference.recordName);
            if (!above.parent || depth > 20) return;
            list.append(" below ", this.#link(above.parent));
            await follow(above.parent, depth + 1);
        };
        follow(parent, 0).catch(() => {});
        return list;
    }

    /** A field with what changes it. */
    #row(name, value) {
        const type = value.type ?? "STRING", {isEncrypted} = value;
        if (type.replace(/_LIST$/, "") === "ASSETID") return this.#assetRow(name, value);
        const text = editable(value);
        const input = isLong(type)
            ? h("textarea", {rows: Math.min(8, Math.max(1, text.split("\n").length)), value: text})
            : h("input", {value: text});
        input.addEventListener("input", () => this.#edits.set(name, {type, isEncrypted, input, old: value.value}));
        const references = type === "REFERENCE" ? [value.value] : type === "REFERENCE_LIST" ? value.value ?? [] : [];
        const shown = references.filter(Boolean).slice(0, 50);
        return h("div", {class: "value"},
            field(name, input, typeName({type, isEncrypted})),
            button("Clear", () => { this.#edits.set(name, {type, isEncrypted, isCleared: true}); input.value = ""; },
                {class: "quiet", "aria-label": `Clear ${name}`}),
            shown.length > 0 && h("p", {class: "links"}, "→ ", shown.flatMap((each, index) =>
                [index > 0 ? ", " : "", this.#link(each)]), references.length > shown.length
                ? `, and ${references.length - shown.length} more` : ""));
    }

    /** A field's files, with what replaces them, removes them, and keeps them after all. */
    #assetRow(name, value) {
        const {type} = value, assets = [value.value].flat().filter(Boolean);
        const input = h("input", {type: "file", multiple: type === "ASSETID_LIST"});
        const said = h("span", {class: "note", role: "status"});
        const keep = button("Keep", () => { input.value = ""; plan(); }, {"aria-label": `Keep ${name} as it is`});
        const plan = (edit, text = "") => {
            if (edit) this.#edits.set(name, edit); else this.#edits.delete(name);
            said.textContent = text;
            keep.hidden = !edit;
        };
        input.addEventListener("change", () => input.files.length === 0 ? plan() : plan({type, input}, "Save replaces what was there."));
        plan();
        const preview = h("div", {class: "preview"});
        return h("div", {class: "value"}, field(name, input, `${type}: ${assets.map(each => bytes(each.size ?? 0)).join(", ") || "no file"}`),
            h("p", {class: "actions"}, assets.length > 0 && button("Clear", () => {
                input.value = "";
                plan({type, isCleared: true}, "Save removes what was there.");
            }, {class: "quiet", "aria-label": `Clear ${name}`}), keep, said),
            assets.map((asset, index) => h("p", {class: "actions"},
                button("Preview", () => showAsset(asset, preview), {"aria-label": `Preview ${name} ${index + 1}`}),
                button("Download", () => saveAsset(asset, `${this.record.recordName}-${name}`),
                    {"aria-label": `Download ${name} ${index + 1}`}))), preview);
    }

    async #save() {
        await this.#attempt(async () => {
            const fields = await collect(this.#edits, this.database, this.zoneID, this.record);
            if (Object.keys(fields).length === 0) { notify("Nothing was changed"); return; }
            await this.#writeOrResolve(this.record, fields);
        });
    }

    /** Saves fields over a version of the record; when there is a newer one, the person chooses, as often as that happens. */
    async #writeOrResolve(before, fields) {
        try {
            await this.#write(before, fields);
        } catch (error) {
            if (error.code === "NOT_FOUND" && await this.#makeAnew(before, fields)) return;
            if (error.code !== "CONFLICT") throw error;
            await this.#resolve(fields);
        }
    }

    /** Offers to make a record anew that somebody deleted while it was edited; returns whether it was. */
    async #makeAnew({recordName, recordType, parent, fields: old}, fields) {
        const lost = Object.keys(old).filter(name => isFile(old[name].type) && !(name in fields));
        const values = Object.fromEntries(Object.entries(old).filter(([name]) => !lost.includes(name)));
        if (!await confirm(words`${recordName} was deleted`, "Somebody deleted the record while you edited it. It can be made anew, with your edits and its "
            + `other values as they are shown${lost.length > 0 ? `, but without the files of ${lost.join(", ")}` : ""}.`, "Make it anew")) return false;
        this.record = await modify(this.database, this.zoneID, "create",
            {recordName, recordType, fields: {...values, ...fields}, ...(parent ? {parent} : {})});
        notify(words`${recordName} is there again`);
        this.room.changed(this.record);
        this.#draw();
        return true;
    }

    /** Saves fields over a version of the record; the files that are replaced are kept, to be able to go back. */
    async #write(before, fields) {
        const {recordName, recordType, recordChangeTag} = before;
        const old = Object.fromEntries(Object.keys(fields).map(name => [name, before.fields[name] ?? {...fields[name], value: null}]));
        const files = await keepFiles(old);
        this.record = await modify(this.database, this.zoneID, "update", {recordName, recordType, recordChangeTag, fields});
        this.#saved(old, files);
    }

    #saved(old, files) {
        const {database, zoneID, room} = this;
        const {recordName, recordType, recordChangeTag} = this.record;
        notify(words`${recordName} is saved`, files && (async () => {
            const fields = await withFiles(old, files, database, zoneID, this.record);
            let record;
            try {
                record = await modify(database, zoneID, "update", {recordName, recordType, recordChangeTag, fields});
            } catch (error) {
                if (error.code !== "CONFLICT") throw error;
                await this.#resolve(fields);
                return;
            }
            notify(words`${recordName} is as it was`);
            room.changed(record);
            if (this.isConnected) { this.record = record; this.#draw(); }
        }));
        this.room.changed(this.record);
        this.#draw();
        this.querySelector("button.main").focus();
    }

    /** Shows what somebody else saved beside what the person wanted, field by field. */
    async #resolve(fields) {
        const theirs = await lookUp(this.database, this.zoneID, this.record.recordName);
        const names = Object.keys(fields);
        const chosen = new Map(names.map(name => [name, "mine"]));
        const choice = (name, side, value) => h("td", {}, h("label", {}, h("input", {
            type: "radio", name: `side-${name}`, checked: side === "mine", onchange: () => chosen.set(name, side),
        }), ` ${short(value) || "nothing"}`));
        const element = dialog("Somebody else changed the record",
            h("p", {}, words`${nameOf(theirs.modified?.userRecordName)} changed it, at ${moment(theirs.modified?.timestamp)}. `,
                "Choose which value each field gets."),
            h("table", {}, h("thead", {}, h("tr", {}, ["Field", "Before", "On the server", "Yours"]
                .map(text => h("th", {scope: "col"}, text)))),
            h("tbody", {}, names.map(name => h("tr", {}, h("th", {scope: "row"}, name),
                h("td", {}, short(this.record.fields[name]) || "nothing"), choice(name, "theirs", theirs.fields[name]),
                choice(name, "mine", fields[name]))))),
            h("footer", {}, button("Save what is chosen", async () => {
                element.close();
                await this.#attempt(async () => {
                    const mine = Object.fromEntries(Object.entries(fields).filter(([name]) => chosen.get(name) === "mine"));
                    if (Object.keys(mine).length > 0) { await this.#writeOrResolve(theirs, mine); return; }
                    this.record = theirs;
                    this.#saved({}, null);
                });
            }, {class: "main"})));
        element.classList.add("wide");
    }

    async #remove() {
        const {database, zoneID, record, room} = this;
        const {recordName, recordType, recordChangeTag} = record;
        if (!await confirm("Delete record", words`The record ${recordName} of ${zoneID.zoneName} is deleted, and with it every record that `
            .concat("refers to it with the action DELETE_SELF. ", record.shortGUID ? "Its share ends, and its link leads nowhere. " : "",
                "Undoing brings back this record alone."), "Delete record")) return;
        await this.#attempt(async () => {
            const files = await keepFiles(record.fields);
            await modify(database, zoneID, "delete", {recordName, recordType, recordChangeTag});
            this.element.close();
            room.changed({...record, deleted: true});
            const isShared = Boolean(record.share);
            notify(isShared ? words`${recordName} is deleted, and its share has ended; Undo brings back the record without it` : words`${recordName} is deleted`,
                files && (async () => {
                    const fields = await withFiles(record.fields, files, database, zoneID, record);
                    const parent = record.parent ? {parent: record.parent} : {};
                    const made = await unlessChanged(database, zoneID, recordName,
                        modify(database, zoneID, "create", {recordName, recordType, fields, ...parent}));
                    notify(isShared ? words`${recordName} is back, and not shared any more: share it again in the room Sharing` : words`${recordName} is back`);
                    room.changed(made);
                }));
        });
    }

    /** Asks for each type that has references whether one leads here. */
    async #findReferences(place) {
        const {outline} = await schema();
        const found = [];
        const {zoneName, ownerRecordName} = this.zoneID;
        const target = {recordName: this.record.recordName, zoneID: {zoneName, ...(ownerRecordName ? {ownerRecordName} : {})}, action: "NONE"};
        let unseen = 0;
        for (const type of outline.recordTypes) {
            for (const each of type.fields) {
                const isList = each.type === "REFERENCE_LIST";
                if (each.name.startsWith("___") || !(isList || each.type === "REFERENCE")) continue;
                if (!each.indexes.includes("QUERYABLE")) { unseen++; continue; }
                const query = {recordType: type.name, filterBy: [{
                    fieldName: each.name, comparator: isList ? "LIST_CONTAINS" : "EQUALS",
                    fieldValue: {type: "REFERENCE", value: target},
                }]};
                try {
                    const {records} = await call(this.database, "records/query",
                        {zoneID: this.zoneID, query, resultsLimit: 100, desiredKeys: []});
                    if (records.length > 0) found.push([type.name, each.name, records]);
                } catch { unseen++; }
                if (!this.isConnected) return;
            }
        }
        fill(place, found.length === 0 && h("p", {}, "No record of this zone."),
            found.map(([type, name, records]) => h("p", {}, words`${type}, ${name}: `, records.flatMap((each, index) =>
                [index > 0 ? ", " : "", h("a", {href: this.room.link({record: each.recordName, type})}, each.recordName)]))),
            unseen > 0 && h("p", {class: "note"}, `${amount(unseen, "field")} without an index QUERYABLE ${unseen === 1 ? "was" : "were"} not looked at.`));
    }

    async #attempt(action) {
        this.querySelectorAll(":scope > .problem").forEach(old => old.remove());
        try { await action(); } catch (error) { this.prepend(problem(error)); this.firstElementChild.scrollIntoView(); }
    }
}

/** Makes a record. */
export function newRecord(database, zoneID, recordType, {changed}) {
    const edits = new Map();
    const name = h("input", {maxlength: 255});
    const type = h("input", {required: true, value: recordType, list: "known-types"});
    const known = h("datalist", {id: "known-types"});
    const fields = h("div", {class: "fields"});
    /** The name that a record without one gets, the same each time that it is tried; and the last name that was free. */
    const ownName = identifier();
    let free = "";
    /** What is shown of each field, by name; and the names of those that the person added. */
    const rows = new Map(), added = new Set();
    const addRow = (name, kind) => {
        const row = inputFor(name, kind, edit => edits.set(name, edit), added.has(name) && (() => {
            for (const each of [rows, added, edits]) each.delete(name);
            row.remove();
        }));
        row.dataset.type = typeName(kind);
        rows.set(name, row);
        return row;
    };
    const showFields = async () => {
        const {outline} = await schema();
        fill(known, outline.recordTypes.map(each => h("option", {value: each.name})));
        const found = (outline.recordTypes.find(each => each.name === type.value)?.fields ?? [])
            .filter(each => !each.name.startsWith("___"));
        // What the person has added or filled in stays, whatever the type; the type's own fields come to it.
        for (const name of rows.keys()) {
            const own = found.find(each => each.name === name);
            const isKept = added.has(name) || edits.has(name);
            if (own ? typeName(own) !== rows.get(name).dataset.type : !isKept) { rows.delete(name); edits.delete(name); }
        }
        for (const each of found) if (!rows.has(each.name)) addRow(each.name, each);
        fill(fields, [...rows.values()]);
    };
    type.addEventListener("change", showFields);
    const form = h("form", {onsubmit: async event => {
        event.preventDefault();
        form.querySelectorAll(":scope > .problem").forEach(old => old.remove());
        try {
            const record = {recordType: type.value, recordName: name.value || ownName};
            if (name.value && name.value !== free) {
                if (await isThere(database, zoneID, name.value)) throw new Error(`There is a record ${name.value} here already; choose another name`);
                free = name.value;
            }
            record.fields = await collect(edits, database, zoneID, record, true);
            const made = await modify(database, zoneID, "create", record);
            element.close();
            notify(words`${made.recordName} is made`, async () => {
                await unlessChanged(database, zoneID, made.recordName, modify(database, zoneID, "delete",
                    {recordName: made.recordName, recordType: made.recordType, recordChangeTag: made.recordChangeTag}));
                notify(words`${made.recordName} is deleted again`);
                changed({...made, deleted: true});
            });
            changed(made);
        } catch (error) {
            form.prepend(problem(error));
        }
    }}, known, field("Type", type), field("Name", name, "Made up when empty"), fields,
    h("p", {class: "actions"}, button("Add a field", () => addField(database, type.value, new Set(rows.keys()), (name, kind) => {
        added.add(name);
        const row = addRow(name, kind);
        fields.append(row);
        return row;
    })), h("button", {class: "main"}, "Make")));
    const element = dialog(words`New record in ${zoneID.zoneName}`, form);
    element.classList.add("wide");
    element.hasEdits = () => edits.size > 0 || added.size > 0 || name.value !== "";
    showFields();
    (recordType ? name : type).focus();
}

/** What comes of undoing something; where somebody else changed the record since, says who. */
async function unlessChanged(database, zoneID, recordName, undoing) {
    try {
        return await undoing;
    } catch (error) {
        if (error.code !== "CONFLICT") throw error;
        const {modified} = await lookUp(database, zoneID, recordName);
        throw new Error(`${nameOf(modified?.userRecordName)} has changed ${recordName} since, at ${moment(modified?.timestamp)}: nothing was undone`);
    }
}

async function isThere(database, zoneID, recordName) {
    try {
        return Boolean(await lookUp(database, zoneID, recordName));
    } catch (error) {
        if (error.code !== "NOT_FOUND") throw error;
        return false;
    }
}

const isFile = type => /^ASSETID/.test(type);

/** What a person types, chooses or picks for a field; only what was touched counts. One that was added can be removed. */
function inputFor(name, {type, isEncrypted}, edit, remove) {
    const input = isFile(type) ? h("input", {type: "file", multiple: type === "ASSETID_LIST"})
        : isLong(type) ? h("textarea", {rows: 1}) : h("input", {});
    input.addEventListener(isFile(type) ? "change" : "input", () => edit({type, isEncrypted, input}));
    return h("div", {class: "value"}, field(name, input, typeName({type, isEncrypted})),
        remove && button("Remove", remove, {class: "quiet", "aria-label": `Remove ${name}`}));
}

/** The names by which queries and tables mean what every record has. */
const systemFields = new Set(["recordName", "createdTimestamp", "createdUserRecordName", "modifiedTimestamp", "modifiedUserRecordName"]);

/** Asks for the name and the type of another field, for which `add` returns the row. */
function addField(database, recordType, taken, add) {
    const name = h("input", {required: true, pattern: "[A-Za-z][A-Za-z0-9_]*", title: "Letters, digits and _, a letter first"});
    const kinds = kindsIn(database), type = select([...kinds.keys()], "STRING");
    const form = h("form", {onsubmit: async event => {
        event.preventDefault();
        form.querySelectorAll(":scope > .problem").forEach(old => old.remove());
        try {
            const {outline} = await schema();
            const known = outline.recordTypes.find(each => each.name === recordType)?.fields.find(each => each.name === name.value);
            if (taken.has(name.value)) throw new Error(`There is a field ${name.value} already; choose another name`);
            if (systemFields.has(name.value)) throw new Error(`${name.value} is a name of the system's; choose another one`);
            if (known && typeName(known) !== type.value) {
                throw new Error(`In the schema ${name.value} of ${recordType} is of the type ${typeName(known)}; choose that one, or another name`);
            }
            element.close();
            add(name.value, kinds.get(type.value)).querySelector("input, textarea").focus();
        } catch (error) {
            form.prepend(problem(error));
        }
    }}, field("Name", name), field("Type", type), h("footer", {}, h("button", {class: "main"}, "Add")));
    const element = dialog("Add a field", form);
    name.focus();
}

/** The fields that were changed, as the service takes them; files are sent before. */
async function collect(edits, database, zoneID, record, isNew) {
    const fields = {};
    for (const [name, {type, isEncrypted, input, old, isCleared}] of edits) {
        const kind = {type, ...(isEncrypted ? {isEncrypted} : {})};
        if (isCleared) { fields[name] = {...kind, value: null}; continue; }
        if (isFile(type)) {
            if (input.files.length > 0) Object.assign(fields, await withFiles({[name]: {type}}, [[name, [...input.files]]], database, zoneID, record));
            continue;
        }
        if (isNew && input.value === "" && type !== "STRING") continue;
        try {
            fields[name] = {...kind, value: read(input.value, type, old)};
        } catch (error) {
            throw new Error(`${name}: ${message(error)}`);
        }
    }
    return fields;
}

/** The files of fields, by field, for the case that they come back; nothing when they are too much to keep, or cannot be read. */
async function keepFiles(fields) {
    const kept = Object.entries(fields).map(([name, {type, value}]) => [name, isFile(type ?? "") ? [value].flat().filter(Boolean) : []])
        .filter(([, assets]) => assets.length > 0);
    if (kept.flatMap(([, assets]) => assets).reduce((sum, each) => sum + each.size, 0) > 20e6) return null;
    try {
        return await Promise.all(kept.map(async ([name, assets]) => [name, await Promise.all(assets.map(download))]));
    } catch {
        return null;
    }
}

/** Fields with files of theirs, which are sent. */
async function withFiles(fields, files, database, zoneID, record) {
    const whole = {...fields};
    for (const [name, blobs] of files) {
        const values = [];
        for (const blob of blobs) values.push(await upload(database, zoneID, record, name, blob));
        const {type} = fields[name];
        whole[name] = {type, value: type === "ASSETID_LIST" ? values : values[0]};
    }
    return whole;
}

const signatures = [
    ["image/png", [0x89, 0x50, 0x4E, 0x47]], ["image/jpeg", [0xFF, 0xD8, 0xFF]], ["image/gif", [0x47, 0x49, 0x46, 0x38]],
    ["image/webp", [0x52, 0x49, 0x46, 0x46]],
];

/** Shows a file: a picture by its first bytes, whatever it calls itself, or text. */
async function showAsset(asset, place) {
    try {
        const blob = await download(asset);
        const bytes = new Uint8Array(await blob.slice(0, 4096).arrayBuffer());
        const type = signatures.find(([, start]) => start.every((byte, index) => bytes[index] === byte))?.[0];
        if (type) {
            const url = URL.createObjectURL(new Blob([blob], {type}));
            fill(place, h("img", {src: url, alt: "The file's picture", onload: () => URL.revokeObjectURL(url)}));
        } else if (bytes.includes(0)) {
            fill(place, h("p", {class: "note"}, "The file is neither a picture nor text."));
        } else {
            fill(place, h("pre", {tabindex: "0", role: "region", "aria-label": "The file's beginning"}, new TextDecoder().decode(bytes)));
        }
    } catch (error) {
        fill(place, problem(error));
    }
}

async function saveAsset(asset, name) {
    try {
        const url = URL.createObjectURL(await download(asset));
        h("a", {href: url, download: name}).click();
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
        notify(message(error));
    }
}

function asSwift(record) {
    const zone = record.zoneID?.zoneName ?? "_defaultZone";
    const lines = [
        `let zoneID = CKRecordZone.ID(zoneName: ${swiftText(zone)})`,
        `let recordID = CKRecord.ID(recordName: ${swiftText(record.recordName)}, zoneID: zoneID)`,
        `let record = CKRecord(recordType: ${swiftText(record.recordType)}, recordID: recordID)`,
    ];
    for (const [name, {value, type, isEncrypted}] of Object.entries(record.fields)) {
        if (value === null || value === undefined) continue;
        lines.push(`record${isEncrypted ? ".encryptedValues" : ""}[${swiftText(name)}] = ${swift(value, type ?? "STRING")}`);
    }
    return lines.join("\n");
}

/** The command that fetches the record; whoever runs it brings the tokens. */
function asCurl(database, zoneID, record) {
    const {zoneName, ownerRecordName} = zoneID;
    const body = stringify({zoneID: {zoneName, ownerRecordName}, records: [{recordName: record.recordName}]});
    const query = `--url-query "ckAPIToken=$CLOUDKIT_API_TOKEN"`
        + (place.user ? ` --url-query "ckWebAuthToken=$CLOUDKIT_WEB_AUTH_TOKEN"` : "");
    return `curl ${query} --json ${shell(body)} ${shell(location.origin + endpointPath(database, "records/lookup"))}`;
}

customElements.define("ck-record", RecordPage);
