// The filter and sort builder, and what it says in other words: CKQuery, and the command line.
import {operate, containerPath, place, schema, stringify} from "./api.js";
import {h, fill, refill, field, select, button, copy, notify, problem, message} from "./dom.js";
import {read, swift, swiftText, shell, argument} from "./values.js";

const signs = {
    EQUALS: "==", NOT_EQUALS: "!=", LESS_THAN: "<", LESS_THAN_OR_EQUALS: "<=", GREATER_THAN: ">",
    GREATER_THAN_OR_EQUALS: ">=", BEGINS_WITH: "begins with", NOT_BEGINS_WITH: "does not begin with", IN: "is one of",
    NOT_IN: "is none of", LIST_CONTAINS: "contains", NOT_LIST_CONTAINS: "does not contain",
};

const formats = {
    EQUALS: "%K == %@", NOT_EQUALS: "%K != %@", LESS_THAN: "%K < %@", LESS_THAN_OR_EQUALS: "%K <= %@",
    GREATER_THAN: "%K > %@", GREATER_THAN_OR_EQUALS: "%K >= %@", BEGINS_WITH: "%K BEGINSWITH %@",
    NOT_BEGINS_WITH: "NOT (%K BEGINSWITH %@)", IN: "%K IN %@", NOT_IN: "NOT (%K IN %@)",
    LIST_CONTAINS: "%K CONTAINS %@", NOT_LIST_CONTAINS: "NOT (%K CONTAINS %@)",
};

/** The comparisons that a field of a type allows. */
function comparators(type) {
    if (type.endsWith("_LIST")) return ["LIST_CONTAINS", "NOT_LIST_CONTAINS"];
    const equal = ["EQUALS", "NOT_EQUALS", "IN", "NOT_IN"];
    const order = ["LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN", "GREATER_THAN_OR_EQUALS"];
    if (type === "STRING") return [...equal, "BEGINS_WITH", "NOT_BEGINS_WITH", ...order];
    // A place has a comma of its own, which separates the values of a list, and no order.
    if (type === "LOCATION") return ["EQUALS", "NOT_EQUALS"];
    return type === "REFERENCE" ? equal : [...equal, ...order];
}

/** A condition as `--where` reads it: with the type where the value's form does not say it. */
function condition(field, type, sign, value) {
    const isList = type.endsWith("_LIST");
    const element = type.replace(/_LIST$/, "");
    // The command line knows the types of system fields, and takes the names of their references.
    const isSystem = field.startsWith("___");
    if (isList && isSystem && element === "REFERENCE") return `${field} ${sign} ${stringify(value.map(each => each.recordName))}`;
    const text = isList ? stringify(value) : argument(value, element);
    // A text that begins like a number, a list or a quoted text would be read as one.
    const isPlain = isSystem || element === "STRING" && !isList && /^[^\d\s+.[\]"-]/.test(text);
    return `${field}${isPlain ? "" : `:${element}`} ${sign} ${text}`;
}

const isOneOf = comparator => comparator === "IN" || comparator === "NOT_IN";

/** The builder: `build()` returns the query, and “ck-query” tells that it should be run. */
export class QueryBuilder extends HTMLElement {
    #type = null;
    #where = {};
    #filters = [];
    #sorts = [];
    #list = h("div", {class: "conditions"});
    #words = h("div", {class: "words"});

    connectedCallback() {
        if (this.firstElementChild) return;
        fill(this, h("details", {}, h("summary", {}, "Filter and sort"), this.#list, h("p", {class: "actions"},
            button("Add a condition", () => { this.#filters.push({}); this.#draw(true); }),
            button("Add a sort", () => { this.#sorts.push({ascending: true}); this.#draw(true); }),
            button("Search", () => this.#run(), {class: "main"})), this.#words));
    }

    /** Starts anew for a record type of the schema, or of none. */
    show(type, where) {
        const isSame = type?.name === this.#type?.name;
        this.#type = type;
        this.#where = where;
        if (!isSame) {
            this.#filters = [];
            this.#sorts = [];
        }
        this.#draw();
    }

    #fields(index) {
        const own = this.#type?.fields ?? [];
        // Nobody looks for what is encrypted: it can have no index.
        return own.filter(each => !each.isEncrypted && !each.type.startsWith("ASSETID") && (!index || !each.type.endsWith("_LIST")));
    }

    #draw(isNew) {
        const remove = (list, index) => button("Remove", () => { list.splice(index, 1); this.#draw(); }, {class: "quiet"});
        refill(this.#list, this.#filters.map((filter, index) => {
            const fields = this.#fields();
            filter.field ??= (fields.find(each => !each.name.startsWith("___")) ?? fields[0])?.name ?? "";
            const type = fields.find(each => each.name === filter.field)?.type ?? "STRING";
            if (!comparators(type).includes(filter.comparator)) filter.comparator = comparators(type)[0];
            return h("div", {class: "condition", role: "group", "aria-label": `Condition ${index + 1}`},
                field("Field", select(fields.map(each => each.name), filter.field,
                    {onchange: event => { filter.field = event.target.value; this.#draw(); }})),
                field("Comparison", select(comparators(type).map(each => [each, signs[each]]), filter.comparator,
                    {onchange: event => { filter.comparator = event.target.value; this.#say(); }})),
                field("Value", h("input", {value: filter.text ?? "", oninput: event => {
                    filter.text = event.target.value;
                    this.#say();
                }, onkeydown: event => { if (event.key === "Enter") this.#run(); }})),
                remove(this.#filters, index));
        }), this.#sorts.map((sort, index) => {
            const fields = this.#fields(true);
            sort.field ??= fields[0]?.name ?? "";
            return h("div", {class: "condition", role: "group", "aria-label": `Sort ${index + 1}`},
                field("Sort by", select(fields.map(each => each.name), sort.field,
                    {onchange: event => { sort.field = event.target.value; this.#say(); }})),
                field("Order", select([["up", "ascending"], ["down", "descending"]], sort.ascending ? "up" : "down",
                    {onchange: event => { sort.ascending = event.target.value === "up"; this.#say(); }})),
                remove(this.#sorts, index));
        }));
        if (isNew) this.#list.lastElementChild?.querySelector("select")?.focus();
        this.#say();
    }

    #run() { this.dispatchEvent(new Event("ck-query")); }

    /** A filter with its value read as the field's type. */
    #read(filter) {
        const type = (this.#fields().find(each => each.name === filter.field)?.type ?? "STRING").replace(/_LIST$/, "");
        const text = filter.text ?? "";
        if (isOneOf(filter.comparator)) {
            return {type: `${type}_LIST`, value: text.split(",").map(each => read(each.trim(), type))};
        }
        return {type, value: read(text, type)};
    }

    /** The query as the service takes it. */
    build() {
        const query = {recordType: this.#type?.name ?? ""};
        if (this.#filters.length > 0) {
            query.filterBy = this.#filters.map(filter => ({
                fieldName: filter.field, comparator: filter.comparator, fieldValue: this.#read(filter),
            }));
        }
        if (this.#sorts.length > 0) {
            query.sortBy = this.#sorts.map(sort => ({fieldName: sort.field, ascending: sort.ascending}));
        }
        return query;
    }

    /** Says the same as Swift and for the shell, and which index is missing. */
    #say() {
        if (!this.#type) { fill(this.#words); return; }
        try {
            const line = (title, text) => h("div", {class: "code"}, h("h2", {}, title),
                h("pre", {tabindex: "0", role: "region", "aria-label": title}, text),
                button("Copy", () => copy(text), {"aria-label": `Copy ${title}`}));
            fill(this.#words, this.#missing(), line("Swift", this.#swift()), line("Command line", this.#command()));
        } catch (error) {
            fill(this.#words, this.#missing(), h("p", {class: "note"}, message(error)));
        }
    }

    #swift() {
        const format = this.#filters.map(filter => formats[filter.comparator]).join(" AND ");
        const values = this.#filters.flatMap(filter => {
            const {type, value} = this.#read(filter);
            return [swiftText(filter.field), swift(value, type)];
        });
        const predicate = values.length === 0 ? "NSPredicate(value: true)"
            : `NSPredicate(format: ${swiftText(format)}, argumentArray: [${values.join(", ")}])`;
        const lines = [`let query = CKQuery(recordType: ${swiftText(this.#type.name)}, predicate: ${predicate})`];
        if (this.#sorts.length > 0) {
            lines.push(`query.sortDescriptors = [${this.#sorts.map(sort =>
                `NSSortDescriptor(key: ${swiftText(sort.field)}, ascending: ${sort.ascending})`).join(", ")}]`);
        }
        return lines.join("\n");
    }

    #command() {
        const {database, zone} = this.#where;
        const words = ["cloudkit records query", shell(this.#type.name), "--database", database, "--zone", shell(zone)];
        for (const filter of this.#filters) {
            const {type, value} = this.#read(filter);
            const sign = /[<=>]/.test(signs[filter.comparator]) ? signs[filter.comparator] : filter.comparator;
            words.push("--where", shell(condition(filter.field, type, sign, value)));
        }
        for (const sort of this.#sorts) words.push("--sort", shell(sort.ascending ? sort.field : `${sort.field}:desc`));
        return words.join(" ");
    }

    /** Offers to make each index that the query needs and the schema lacks. */
    #missing() {
        const needs = [
            ["___recordID", "QUERYABLE"],
            ...this.#filters.map(filter => [filter.field, "QUERYABLE"]),
            ...this.#sorts.map(sort => [sort.field, "SORTABLE"]),
        ];
        const has = ([name, index]) =>
            this.#type.fields.find(each => each.name === name)?.indexes.includes(index);
        const lacking = needs.filter((need, place) => !has(need)
            && needs.findIndex(other => other.join() === need.join()) === place);
        return lacking.map(([name, index]) => h("p", {class: "note"}, `${name} has no index ${index}. `,
            button("Make it", async event => {
                try {
                    const {text} = await schema(true);
                    const path = containerPath(`schemas/${place.environment}`);
                    await operate("PUT", path, {text: withIndex(text, this.#type.name, name, index)});
                    const {outline} = await schema(true);
                    this.#type = outline.recordTypes.find(each => each.name === this.#type.name);
                    notify(`${name} has the index ${index} now`);
                    this.#draw();
                    this.dispatchEvent(new CustomEvent("ck-index", {detail: outline}));
                } catch (error) {
                    event.target.after(problem(error));
                }
            })));
    }
}

/** The text of a schema with one more index. */
export function withIndex(text, type, name, index) {
    // Names that are words of the language stand in quotation marks.
    const start = Math.max(text.indexOf(`RECORD TYPE ${type} (`), text.indexOf(`RECORD TYPE "${type}" (`));
    if (start < 0) throw new Error(`The schema has no type ${type}`);
    const end = text.indexOf("\n);", start);
    const lines = text.slice(start, end).split("\n");
    const at = lines.findIndex(line => [`${name} `, `"${name}" `].some(each => line.trim().startsWith(each)));
    if (at < 0) {
        if (name !== "___recordID") throw new Error(`The type ${type} has no field ${name}`);
        lines.splice(1, 0, `    "___recordID" REFERENCE ${index},`);
    } else {
        lines[at] = lines[at].replace(/,?$/, ` ${index}$&`);
    }
    return text.slice(0, start) + lines.join("\n") + text.slice(end);
}

customElements.define("ck-query", QueryBuilder);
