// Values of fields as text, for the table and for forms, and back.
import {moment, bytes} from "./dom.js";
import {stringify, parse} from "./api.js";

const types = [
    "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "LOCATION", "REFERENCE", "ASSETID",
    "STRING_LIST", "INT64_LIST", "DOUBLE_LIST", "TIMESTAMP_LIST", "BYTES_LIST", "LOCATION_LIST", "REFERENCE_LIST",
    "ASSETID_LIST",
];

/** What the page calls the type of a field. */
export const typeName = ({type, isEncrypted}) => isEncrypted ? `${type}, encrypted` : type;

/** The types that a field of a database may have, by what the page calls them. */
export const kindsIn = database => new Map([false, true].flatMap(isEncrypted => types.filter(type => !isEncrypted
    || database !== "public" && !/^(REFERENCE|ASSETID)/.test(type)).map(type => [typeName({type, isEncrypted}), {type, isEncrypted}])));

/** A value on one line. */
export function short(field) {
    if (!field || field.value === null || field.value === undefined) return "";
    if (field.isEncrypted && typeof field.value === "object") return "encrypted";
    return one(field.value, (field.type ?? "").replace(/_LIST$/, ""));
}

function one(value, type) {
    if (Array.isArray(value)) {
        // A location has a comma of its own.
        const element = each => type === "LOCATION" ? `(${one(each, type)})` : one(each, type);
        const shown = value.slice(0, 20).map(element).join(", ");
        return value.length > 20 ? `${shown}, and ${value.length - 20} more` : shown;
    }
    switch (type) {
    case "TIMESTAMP": return moment(value);
    case "REFERENCE": return value.recordName;
    case "DOUBLE": return decimal(value);
    case "LOCATION": return place(value);
    case "ASSETID": return `${bytes(value.size ?? 0)} file`;
    case "BYTES": return `${value.length > 48 ? value.slice(0, 48) + "…" : value}`;
    default: {
        const text = typeof value === "object" ? stringify(value) : String(value);
        return text.length > 300 ? text.slice(0, 300) + "…" : text;
    }
    }
}

/** A value as the text of a form. */
export function editable(field) {
    const {value, type} = field;
    if (value === null || value === undefined) return "";
    switch (type) {
    case "STRING": case "BYTES": case "INT64": return String(value);
    case "DOUBLE": return decimal(value);
    case "TIMESTAMP": return moment(value).replace(" ", "T") + "Z";
    case "REFERENCE": return value.recordName;
    case "LOCATION": return place(value);
    default: return stringify(value, 1);
    }
}

/** A number as people write it, with its sign. */
const decimal = value => Object.is(value, -0) ? "-0.0" : String(value);

const place = ({latitude, longitude}) => `${decimal(latitude)}, ${decimal(longitude)}`;

/** Whether a form shows a value on several lines. */
export const isLong = type => type === "STRING" || type.endsWith("_LIST");

/** Reads the text of a form. */
export function read(text, type, old) {
    const wrong = what => { throw new Error(`“${text}” is not ${what}`); };
    switch (type) {
    case "STRING": case "BYTES": return text;
    case "INT64":
        if (!/^\s*-?\d+\s*$/.test(text)) wrong("a whole number");
        if (BigInt.asIntN(64, BigInt(text.trim())) !== BigInt(text.trim())) wrong("a whole number of 64 bits");
        return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text.trim());
    case "DOUBLE":
        if (text.trim() === "" || !Number.isFinite(Number(text))) wrong("a number");
        return Number(text);
    case "TIMESTAMP": {
        const time = readTime(text.trim());
        if (Number.isNaN(time)) wrong("a time, such as 2026-01-31, 2026-01-31 12:00 or 2026-01-31T12:00:00.000Z; without a zone it is UTC");
        return time;
    }
    case "REFERENCE": return {action: "NONE", ...old, recordName: text.trim()};
    case "LOCATION": {
        const numbers = text.split(",").map(each => each.trim() === "" ? NaN : Number(each));
        if (numbers.length !== 2 || !numbers.every(Number.isFinite)) wrong("a latitude and a longitude: 47.4, 8.5");
        return {...old, latitude: numbers[0], longitude: numbers[1]};
    }
    default: {
        let value;
        try { value = parse(text); } catch { return wrong("JSON, as the value stands on the wire"); }
        // The moments of a list may be written as a single one is.
        return type !== "TIMESTAMP_LIST" || !Array.isArray(value) ? value
            : value.map(each => typeof each === "string" ? read(each, "TIMESTAMP") : each);
    }
    }
}

/** The milliseconds since 1970 of a time in the form of ISO 8601, in UTC when it names no zone; no number for a day that no calendar has. */
function readTime(text) {
    const clock = "(?:[01]\\d|2[0-3]):[0-5]\\d";
    const form = `((?:\\d{4}|[+-]\\d{6})-\\d\\d-\\d\\d)(?:[T ](${clock}(?::[0-5]\\d(?:\\.\\d{1,3})?)?)(Z|[+-]${clock})?)?`;
    const [, day, time = "00:00", zone = "Z"] = new RegExp(`^${form}$`).exec(text) ?? [];
    const midnight = Date.parse(`${day}T00:00Z`);
    // Browsers take the 30th of February for a day of March.
    const isReal = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(`${day}T`);
    return isReal ? Date.parse(`${day}T${time}${zone}`) : NaN;
}

/** A value as Swift writes it. */
export function swift(value, type) {
    const element = type.replace(/_LIST$/, "");
    if (Array.isArray(value)) return `[${value.map(each => swift(each, element)).join(", ")}]`;
    switch (element) {
    case "STRING": return swiftText(value);
    case "TIMESTAMP": return `Date(timeIntervalSince1970: ${Number(value) / 1000})`;
    case "BYTES": return `Data(base64Encoded: ${swiftText(value)})!`;
    case "DOUBLE": return fraction(value);
    case "LOCATION": return `CLLocation(latitude: ${decimal(value.latitude)}, longitude: ${decimal(value.longitude)})`;
    case "REFERENCE": return `CKRecord.Reference(recordID: CKRecord.ID(recordName: ${swiftText(value.recordName)}, `
        + `zoneID: zoneID), action: ${value.action === "DELETE_SELF" ? ".deleteSelf" : ".none"})`;
    case "ASSETID": return "CKAsset(fileURL: fileURL)";
    default: return String(value);
    }
}

export const swiftText = text => `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r")
    .replace(/\t/g, "\\t").replace(/\0/g, "\\0")}"`;

/** A value as the command line reads it. */
export function argument(value, type) {
    switch (type) {
    case "TIMESTAMP": {
        // Years of more than four digits have no date there.
        const date = new Date(value).toISOString();
        return /^\d{4}-/.test(date) ? date : String(value);
    }
    case "REFERENCE": return value.recordName;
    case "LOCATION": return `${decimal(value.latitude)},${decimal(value.longitude)}`;
    case "DOUBLE": return fraction(value);
    default: return String(value);
    }
}

/** A number that reads as one with a fraction. */
const fraction = value => Number.isInteger(value) && Math.abs(value) < 1e21 && !Object.is(value, -0) ? `${value}.0` : decimal(value);

/** A text as one word of a shell. */
export const shell = text => /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
