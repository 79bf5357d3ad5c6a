// A user's zones as a file that “cloudkit import” reads too, without the files of assets; and back.
import {call, item, place, schema, parse, stringify} from "./api.js";

const VERSION = 1, BATCH = 200;

/** Writes all zones of the chosen user's private database; answers the file and what is in it. */
export async function exportZones(told, signal) {
    const lines = [];
    const write = line => lines.push(`${stringify(line)}\n`);
    const count = {assets: 0, records: 0, zones: 0};
    let leftOut = 0;
    write({export: {container: place.container, database: "private", environment: place.environment, version: VERSION}});
    const {zones} = await call("private", "zones/list", undefined, {signal});
    const {outline} = await schema(true);
    for (const {zoneID} of zones) {
        count.zones++;
        write({zone: {zoneName: zoneID.zoneName}});
        for await (const records of pages(zoneID, outline, signal)) {
            for (const record of records) {
                if (record.recordType === "cloudkit.share") continue;
                const fields = Object.entries(record.fields).filter(([, {type}]) => !/^ASSETID/.test(type ?? ""));
                leftOut += Object.keys(record.fields).length - fields.length;
                const {recordName, recordType, parent} = record;
                write({record: portable({recordName, recordType, parent, fields: Object.fromEntries(fields), zoneID}, zoneID.ownerRecordName)});
                count.records++;
            }
            told(count.records);
        }
    }
    write({end: count});
    return {blob: new Blob(lines, {type: "application/x-ndjson"}), count, leftOut};
}

async function* pages(zoneID, outline, signal) {
    if (zoneID.zoneName !== "_defaultZone") {
        for (let syncToken, isMore = true; isMore;) {
            const {zones: [page]} = await call("private", "changes/zone", {zones: [{zoneID, syncToken}]}, {signal});
            yield item(page).records.filter(each => !each.deleted);
            ({syncToken, moreComing: isMore} = page);
        }
        return;
    }
    for (const {name} of outline.recordTypes) {
        if (name === "Users") continue;
        let continuationMarker;
        do {
            const page = await call("private", "records/query", {zoneID, query: {recordType: name}, continuationMarker}, {signal});
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

/** Saves what stands in a file; answers how many records were saved, and what was refused. */
export async function importZones(text, told, signal) {
    const zones = new Map();
    let header, end;
    text.split("\n").forEach((line, index) => {
        if (!line.trim()) return;
        let entry;
        try { entry = parse(line); } catch { throw new Error(`Line ${index + 1} is not JSON`); }
        if (!header && !entry?.export) throw new Error("The file is no export: its first line is not {\"export\": …}");
        if (entry.export && entry.export.version !== VERSION) throw new Error(`The file has version ${entry.export.version}; this page reads ${VERSION}`);
        if (entry.export && entry.export.database !== "private") throw new Error(`The file has records of the ${entry.export.database} database, which “cloudkit import” takes`);
        header ??= entry.export;
        end ??= entry.end;
        const zone = entry.zone?.zoneName ?? (entry.record && (entry.record.zoneID?.zoneName ?? "_defaultZone"));
        if (zone && !zones.has(zone)) zones.set(zone, []);
        if (entry.record && !entry.record.deleted) zones.get(zone).push(entry.record);
    });
    if (!end) throw new Error("The file has no last line “end”: it was cut short");
    let saved = 0;
    const refused = [];
    for (const [zoneName, records] of zones) {
        if (zoneName !== "_defaultZone") {
            const made = await call("private", "zones/modify", {operations: [{operationType: "create", zone: {zoneID: {zoneName}}}]}, {signal});
            item(made.zones[0]);
        }
        // What refers to a record that is not there yet is tried again after the others, as long as that helps.
        for (let waiting = records, isTogether = false; waiting.length > 0;) {
            const failed = [];
            for (let first = 0; first < waiting.length; first += BATCH) {
                const batch = waiting.slice(first, first + BATCH);
                const results = await save(zoneName, batch, isTogether, signal);
                results.forEach((result, index) => {
                    if (result.serverErrorCode) failed.push([batch[index], result]);
                    else told(++saved);
                });
            }
            // Those that need each other come together, in a last try.
            const isLast = isTogether || (failed.length === waiting.length && zoneName === "_defaultZone");
            if (isLast) { refused.push(...failed.map(([record, result]) => `${record.recordName}: ${result.reason}`)); break; }
            isTogether = failed.length === waiting.length;
            waiting = failed.map(([record]) => record);
        }
    }
    return {saved, refused};
}

async function save(zoneName, records, atomic, signal) {
    const operations = records.map(({recordName, recordType, fields, parent}) => {
        const kept = Object.fromEntries(Object.entries(fields ?? {}).filter(([, {type}]) => !/^ASSETID/.test(type ?? "")));
        return {operationType: "forceUpdate", record: {recordName, recordType, fields: kept, ...(parent ? {parent} : {})}};
    });
    const {records: results} = await call("private", "records/modify", {zoneID: {zoneName}, operations, atomic, desiredKeys: []}, {signal});
    return results;
}
