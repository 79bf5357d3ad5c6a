// A user's zones as an archive with what “cloudkit export” writes, a file of lines and a folder of assets; and back.
import {call, item, place, schema, parse, stringify, download, upload} from "./api.js";
import {bytes, message, number, amount} from "./dom.js";

const VERSION = 1, BATCH = 200, SHARE = "cloudkit.share";
/** The names in an archive, below a folder of its own. */
const LINES = "records.jsonl", FOLDER = "assets";

/** Writes all zones of the chosen user's private database; returns the archive, what is in it, and the types that no query of the default zone finds. */
export async function exportZones(name, told, signal) {
    const lines = [];
    const write = line => lines.push(`${stringify(line)}\n`);
    const count = {assets: 0, records: 0, zones: 0};
    const files = new Map();
    write({export: {container: place.container, database: "private", environment: place.environment, version: VERSION}});
    const {zones} = await call("private", "zones/list", undefined, {signal});
    // The default zone has no feed of changes, and its records are found by indexes alone.
    const types = (await schema(true)).outline.recordTypes.filter(each => each.name !== "Users");
    const queries = types.map(listing).filter(Boolean);
    const unlisted = types.filter(each => !listing(each)).map(each => each.name);
    for (const {zoneID} of zones) {
        count.zones++;
        write({zone: {zoneName: zoneID.zoneName}});
        for await (const records of pages(zoneID, queries, signal)) {
            for (const record of records) {
                const {recordName, recordType, parent, fields} = record;
                // Who took part in a share stands beside its fields.
                const kept = recordType === SHARE ? record : {recordName, recordType, parent, fields, zoneID};
                const names = await keep(fields, files);
                count.assets += Object.values(names).flat().length;
                write({record: portable(kept, zoneID.ownerRecordName),
                    ...(Object.keys(names).length > 0 ? {files: names} : {})});
                count.records++;
            }
            told(count.records);
        }
    }
    // In the file too, for whoever has only that.
    write({end: {...count, ...(unlisted.length > 0 ? {unlisted} : {})}});
    const entries = [[`${name}/${LINES}`, new Blob(lines)], ...[...files].map(([file, blob]) => [`${name}/${FOLDER}/${file}`, blob])];
    return {blob: tar(entries), count, unlisted};
}

/** The assets in a field, in order. */
const assetsOf = ({type, value}) => !/^ASSETID/.test(type ?? "") ? [] : [value].flat().filter(Boolean);

/** Fetches the files of a record, each of the same checksum once; returns their names by field, and leaves no addresses in the fields. */
async function keep(fields, files) {
    const names = {};
    for (const [name, field] of Object.entries(fields)) {
        const assets = assetsOf(field);
        if (assets.length === 0) continue;
        names[name] = [];
        for (const asset of assets) {
            // As the command names them.
            const file = [...atob(asset.fileChecksum)].map(byte => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
            if (!files.has(file)) files.set(file, await download(asset));
            names[name].push(file);
        }
        const kept = assets.map(({fileChecksum, size}) => ({fileChecksum, size}));
        fields[name] = {...field, value: Array.isArray(field.value) ? kept : kept[0]};
    }
    return names;
}

/** The query that finds all records of a type, or nothing where none of its indexes does. */
function listing({name, fields}) {
    const named = (each, index) => each.indexes.includes(index);
    if (fields.some(each => each.name === "___recordID" && named(each, "QUERYABLE"))) return {recordType: name};
    // An order has all of them, those without a value too; one of places begins somewhere.
    const sorted = fields.find(each => named(each, "SORTABLE") && each.type !== "LOCATION");
    return sorted && {recordType: name, sortBy: [{fieldName: sorted.name, ascending: true}]};
}

async function* pages(zoneID, queries, signal) {
    if (zoneID.zoneName !== "_defaultZone") {
        for (let syncToken, isMore = true; isMore;) {
            const {zones: [page]} = await call("private", "changes/zone", {zones: [{zoneID, syncToken}]}, {signal});
            yield item(page).records.filter(each => !each.deleted);
            ({syncToken, moreComing: isMore} = page);
        }
        return;
    }
    for (const query of queries) {
        let continuationMarker;
        do {
            const page = await call("private", "records/query", {zoneID, query, continuationMarker}, {signal});
            yield page.records;
            ({continuationMarker} = page);
        } while (continuationMarker);
    }
}

/** A value without the name of its own account, so that another user can take it. */
function portable(value, owner) {
    if (Array.isArray(value)) return value.map(each => portable(each, owner));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).filter(([key, each]) => !(key === "ownerRecordName" && each === owner) && key !== "zoneType")
        .map(([key, each]) => [key, portable(each, owner)]));
}

/**
 * Reads an archive, or the file of lines with files of assets beside it: the zones with their records, the files by name, and
 * how many shares are left out, because people have to accept an invitation again.
 */
export async function read(chosen) {
    const files = new Map();
    for (const file of chosen) {
        const entries = await untar(file);
        for (const [name, blob] of entries ?? [[file.name, file]]) files.set(name.split("/").at(-1), blob);
    }
    const isLines = async blob => /^\s*\{"export"/.test(await blob.slice(0, 100).text());
    const found = [];
    for (const [name, blob] of files) if (await isLines(blob)) found.push(name);
    if (found.length !== 1) {
        throw new Error(found.length > 1 ? "Choose one export at a time" : "The file is no export: its first line is not {\"export\": …}");
    }
    const text = await files.get(found[0]).text();
    const zones = new Map();
    let end, count = 0, shares = 0;
    const cut = `The file ${found[0]} was cut short, and nothing is imported; copy or export it again`;
    const lines = text.split("\n");
    lines.forEach((line, index) => {
        if (!line.trim()) return;
        let entry;
        try {
            entry = parse(line);
        } catch {
            throw new Error(index === lines.length - 1 ? cut : `Line ${index + 1} of ${found[0]} is not JSON; nothing is imported`);
        }
        if (!isLine(entry)) throw new Error(`Line ${index + 1} of ${found[0]} is neither export, zone, record nor end; nothing is imported`);
        if (entry.export && entry.export.version !== VERSION) throw new Error(`The file has version ${entry.export.version}; this page reads ${VERSION}`);
        if (entry.export && entry.export.database !== "private") throw new Error(`The file has records of the ${entry.export.database} database, which “cloudkit import” takes`);
        end ??= entry.end;
        const zone = entry.zone?.zoneName ?? (entry.record && (entry.record.zoneID?.zoneName ?? "_defaultZone"));
        if (zone && !zones.has(zone)) zones.set(zone, []);
        if (entry.record) count++;
        if (entry.record?.recordType === SHARE) shares++;
        else if (entry.record && !entry.record.deleted) zones.get(zone).push(whole({...entry.record, files: entry.files ?? {}}, files));
    });
    if (!end) throw new Error(`${cut}: it has no last line “end”`);
    if (count < end.records) throw new Error(`${cut}: it has ${number(count)} of ${amount(end.records, "record")}`);
    return {zones, files, shares, unlisted: Array.isArray(end.unlisted) ? end.unlisted.map(String) : []};
}

/** Whether a line is one of an export. */
function isLine(entry) {
    const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);
    const {record, files = {}} = entry ?? {};
    if (!isObject(entry) || !isObject(files) || !Object.values(files).every(Array.isArray)) return false;
    return record === undefined ? isObject(entry.export ?? entry.zone ?? entry.end)
        : isObject(record) && typeof record.recordName === "string" && Object.values(record.fields ?? {}).every(isObject);
}

/** A record whose files that are there are all of them. */
function whole(record, files) {
    for (const [name, field] of Object.entries(record.fields ?? {})) {
        for (const [index, {size}] of assetsOf(field).entries()) {
            const blob = files.get(record.files[name]?.[index]);
            if (blob?.size < size) throw new Error(`The file ${record.files[name][index]} of ${record.recordName} was cut short, and nothing is imported: ${bytes(blob.size)} of ${bytes(size)}`);
        }
    }
    return record;
}

/** Saves what stands in an archive; returns how many records were saved and files sent, and what was refused. */
export async function importZones(archive, told, signal) {
    const outcome = {saved: 0, sent: 0, refused: []};
    try {
        await importInto(outcome, archive, told, signal);
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new Error(`${message(error)}. ${amount(outcome.saved, "record")} ${outcome.saved === 1 ? "was" : "were"} imported before that; import the file again, what is there is replaced by the same`);
    }
    return outcome;
}

async function importInto(outcome, {zones, files}, told, signal) {
    const {refused} = outcome;
    for (const [zoneName, records] of zones) {
        if (zoneName !== "_defaultZone") {
            const made = await call("private", "zones/modify", {operations: [{operationType: "create", zone: {zoneID: {zoneName}}}]}, {signal});
            item(made.zones[0]);
        }
        // What refers to a record that is not there yet is tried again after the others, as long as that helps.
        for (let waiting = records, isTogether = false; waiting.length > 0;) {
            const failed = [];
            for (let first = 0; first < waiting.length; first += BATCH) {
                const ready = [];
                for (const record of waiting.slice(first, first + BATCH)) {
                    const lacking = await send(record, zoneName, files, () => { outcome.sent++; });
                    if (lacking) refused.push(`${record.recordName}: the file of ${lacking} is not there; choose it together with the export`);
                    else ready.push(record);
                }
                if (ready.length === 0) continue;
                const results = await save(zoneName, ready, isTogether, signal);
                results.forEach((result, index) => {
                    if (result.serverErrorCode) failed.push([ready[index], result]);
                    else told(++outcome.saved);
                });
            }
            // Those that need each other come together, in a last try.
            const isLast = isTogether || (failed.length === waiting.length && zoneName === "_defaultZone");
            if (isLast) { refused.push(...failed.map(([record, result]) => `${record.recordName}: ${result.reason}`)); break; }
            isTogether = failed.length === waiting.length;
            waiting = failed.map(([record]) => record);
        }
    }
}

/** Sends the files of a record, once, and puts their receipts into it; returns the field of which one is not there. */
async function send(record, zoneName, files, told) {
    for (const [name, field] of Object.entries(record.fields ?? {})) {
        const assets = assetsOf(field);
        if (assets.length === 0 || assets.every(each => each.receipt)) continue;
        const blobs = (record.files[name] ?? []).map(each => files.get(each));
        if (blobs.length !== assets.length || blobs.some(each => !each)) return name;
        const receipts = [];
        for (const blob of blobs) { receipts.push(await upload("private", {zoneName}, record, name, blob)); told(); }
        record.fields[name] = {...field, value: Array.isArray(field.value) ? receipts : receipts[0]};
    }
    return null;
}

async function save(zoneName, records, atomic, signal) {
    const operations = records.map(({recordName, recordType, fields, parent}) =>
        ({operationType: "forceUpdate", record: {recordName, recordType, fields, ...(parent ? {parent} : {})}}));
    const {records: results} = await call("private", "records/modify", {zoneID: {zoneName}, operations, atomic, desiredKeys: []}, {signal});
    return results;
}

// MARK: tar

const BLOCK = 512;

/** Files with their names as an archive. */
function tar(entries) {
    const parts = [];
    for (const [name, blob] of entries) {
        parts.push(header(name, blob.size), blob, new Uint8Array((BLOCK - blob.size % BLOCK) % BLOCK));
    }
    parts.push(new Uint8Array(2 * BLOCK));
    return new Blob(parts, {type: "application/x-tar"});
}

/** The block before a file, as POSIX describes it (ustar); the last slash where the name may be cut is between its two parts. */
function header(name, size) {
    const block = new Uint8Array(BLOCK);
    const write = (text, at) => block.set(new TextEncoder().encode(text), at);
    const cut = name.length > 100 ? name.lastIndexOf("/", 155) : -1;
    write(name.slice(cut + 1), 0);
    write("0000644\0", 100);
    write("0000000\0", 108);
    write("0000000\0", 116);
    write(`${size.toString(8).padStart(11, "0")}\0`, 124);
    write(`${Math.floor(Date.now() / 1000).toString(8).padStart(11, "0")}\0`, 136);
    write("        0", 148);
    write("ustar\0" + "00", 257);
    if (cut > 0) write(name.slice(0, cut), 345);
    const sum = block.reduce((total, byte) => total + byte, 0);
    write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return block;
}

/** The files in an archive, by name; nothing for a file of another kind. */
async function untar(blob) {
    const found = [];
    const cut = new Error(`The archive ${blob.name} was cut short, and nothing is imported; copy or export it again`);
    for (let at = 0; at + BLOCK <= blob.size;) {
        const block = new Uint8Array(await blob.slice(at, at + BLOCK).arrayBuffer());
        if (block.every(byte => byte === 0)) return found;
        const text = (from, count) => new TextDecoder().decode(block.slice(from, from + count)).replace(/\0.*$/s, "");
        if (!text(257, 6).startsWith("ustar")) {
            if (at === 0) return null;
            throw new Error(`The archive ${blob.name} is damaged, and nothing is imported: it has something other than a file where one begins`);
        }
        const size = parseInt(text(124, 12), 8) || 0;
        at += BLOCK;
        if (at + size > blob.size) throw cut;
        const name = [text(345, 155), text(0, 100)].filter(Boolean).join("/");
        // Folders have no bytes.
        if (["0", ""].includes(text(156, 1))) found.push([name, blob.slice(at, at + size)]);
        at += Math.ceil(size / BLOCK) * BLOCK;
    }
    // Blocks of zeros would end it.
    if (found.length > 0) throw cut;
    return null;
}
