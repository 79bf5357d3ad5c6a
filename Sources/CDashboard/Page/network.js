// The records of a zone, or those around one record, with what refers to what.
import {call, item, schema} from "./api.js";

/** Records that are shown at most. */
export const MOST = 2000;
const PAGE = 200;

/** What a record refers to in its own zone, by what: a field, “parent” or “share”. */
function references(record, {zoneName}) {
    const found = [];
    const add = (field, value) => {
        if (value?.recordName && (value.zoneID?.zoneName ?? zoneName) === zoneName) found.push([field, value.recordName]);
    };
    for (const [name, {value}] of Object.entries(record.fields ?? {})) {
        for (const each of Array.isArray(value) ? value : [value]) add(name, each);
    }
    add("parent", record.parent);
    add("share", record.share);
    return found;
}

/** Reads a zone's graph, or the part that is some steps around a record. */
export async function readNetwork({database, zoneID, record, steps}, signal) {
    const {outline} = await schema(true);
    const types = outline.recordTypes.filter(each => each.name !== "Users").map(type => ({name: type.name,
        fields: type.fields.filter(each => /^REFERENCE/.test(each.type) && !each.name.startsWith("___"))}));
    const keys = [...new Set(types.flatMap(type => type.fields.map(each => each.name)))];
    const place = {database, zoneID, types, keys, signal};
    const all = await readAll(place);
    if (!record) return connect(all.records, zoneID, all);
    if (all.isCut) {
        const around = await readAround(place, record, steps);
        return connect(around.records, zoneID, around);
    }
    const whole = connect(all.records, zoneID, all);
    const near = within(whole, record, steps);
    return connect(whole.records.filter((_, node) => near.has(node)), zoneID, all);
}

/** All records, the longest unchanged first, up to the most that are shown. */
async function readAll(place) {
    const {database, zoneID, types, keys, signal} = place;
    const records = [];
    let unseen = 0;
    const hasFeed = database !== "public" && zoneID.zoneName !== "_defaultZone";
    for (let syncToken, isMore = hasFeed; isMore && records.length <= MOST;) {
        const {zones: [page]} = await call(database, "changes/zone",
            {zones: [{zoneID, syncToken, resultsLimit: PAGE, desiredKeys: keys}]}, {signal});
        records.push(...item(page).records.filter(each => !each.deleted));
        ({syncToken, moreComing: isMore} = page);
    }
    for (const type of hasFeed ? [] : types) {
        try {
            for (let continuationMarker, isMore = true; isMore && records.length <= MOST; isMore = !!continuationMarker) {
                const page = await call(database, "records/query", {zoneID, query: {recordType: type.name},
                    continuationMarker, resultsLimit: PAGE, desiredKeys: keys}, {signal});
                records.push(...page.records);
                ({continuationMarker} = page);
            }
        } catch (error) {
            if (signal.aborted) throw error;
            unseen++;
        }
    }
    return {records: records.slice(0, MOST), isCut: records.length > MOST, unseen};
}

/** The records some steps around one, of a zone that is too large to read: those that refer to others by indexes. */
async function readAround({database, zoneID, types, keys, signal}, name, steps) {
    const known = new Map(), met = new Map();
    let unseen = 0, isCut = false, names = [name];
    for (let step = 0; ; step++) {
        const strangers = names.filter(each => !met.has(each));
        for (let first = 0; first < strangers.length; first += PAGE) {
            const {records} = await call(database, "records/lookup", {zoneID, desiredKeys: keys,
                records: strangers.slice(first, first + PAGE).map(recordName => ({recordName}))}, {signal});
            for (const each of records) if (!each.serverErrorCode) met.set(each.recordName, each);
        }
        const fresh = names.filter(each => met.has(each) && !known.has(each)).slice(0, MOST - known.size);
        for (const each of fresh) known.set(each, met.get(each));
        isCut ||= known.size === MOST;
        if (step === steps || isCut || fresh.length === 0) break;
        const next = new Set(fresh.flatMap(each => references(met.get(each), zoneID).map(([, to]) => to)));
        unseen = 0;
        for (const type of types) {
            for (const field of type.fields) {
                if (!field.indexes.includes("QUERYABLE")) { unseen++; continue; }
                for (let first = 0; first < fresh.length; first += 50) {
                    const page = await referring(type.name, field, fresh.slice(first, first + 50));
                    for (const each of page) { met.set(each.recordName, each); next.add(each.recordName); }
                }
            }
        }
        names = [...next].filter(each => !known.has(each));
    }
    return {records: [...known.values()], isCut, unseen};

    async function referring(recordType, field, targets) {
        const isList = field.type === "REFERENCE_LIST";
        const query = {recordType, filterBy: [{
            fieldName: field.name, comparator: isList ? "LIST_CONTAINS_ANY" : "IN",
            fieldValue: {type: "REFERENCE_LIST", value: targets.map(recordName => ({recordName, zoneID, action: "NONE"}))},
        }]};
        const {records} = await call(database, "records/query", {zoneID, query, resultsLimit: PAGE, desiredKeys: keys}, {signal});
        return records;
    }
}

/** Makes a graph of records: `edges` are pairs of places, and what leads beyond is counted. */
function connect(records, zoneID, {isCut, unseen}) {
    const places = new Map(records.map((record, node) => [record.recordName, node]));
    const edges = [], labels = [];
    const refersTo = records.map(() => []), referredBy = records.map(() => []);
    let beyond = 0;
    records.forEach((record, from) => {
        for (const [field, name] of references(record, zoneID)) {
            const to = places.get(name);
            if (to === undefined) { beyond++; continue; }
            edges.push([from, to]);
            labels.push(field);
            refersTo[from].push(to);
            referredBy[to].push(from);
        }
    });
    return {records, edges, labels, refersTo, referredBy, beyond, isCut, unseen, places};
}

/** The nodes some steps around a record. */
function within({places, refersTo, referredBy}, name, steps) {
    const near = new Set(places.has(name) ? [places.get(name)] : []);
    for (let step = 0, last = [...near]; step < steps; step++) {
        last = last.flatMap(node => [...refersTo[node], ...referredBy[node]]).filter(node => !near.has(node));
        for (const node of last) near.add(node);
    }
    return near;
}
