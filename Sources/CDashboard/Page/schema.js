// Types, fields, indexes and roles, as text; and what would become of production.
import {operate, containerPath, place, schema} from "./api.js";
import {h, fill, field, button, confirm, notify, problem, copy, amount, words, Room} from "./dom.js";
import {typeName} from "./values.js";

class SchemaRoom extends Room {
    #text = h("textarea", {rows: 20, spellcheck: "false", class: "source"});
    #message = h("div", {role: "status"});
    #outline = h("div", {});
    #deployment = h("div", {});
    #loaded = "";

    hasEdits() { return this.#text.value !== this.#loaded; }

    async show() {
        fill(this, h("h1", {}, "Schema"),
            field(`Schema of ${place.environment}, in Apple's schema language`, this.#text), this.#message,
            h("p", {class: "actions"},
                button("Check", () => this.#import(true)), button("Import", () => this.#import(false), {class: "main"}),
                button("Copy", () => copy(this.#text.value), {"aria-label": "Copy the schema"})),
            h("h2", {}, "Types"), this.#outline, h("h2", {}, "From development to production"),
            h("p", {class: "actions"}, button("Compare", () => this.#compare())), this.#deployment);
        await this.#load();
    }

    get #path() { return containerPath(`schemas/${place.environment}`); }

    async #load() {
        const {text, outline} = await schema(true);
        this.#text.value = text;
        // As the text area has it.
        this.#loaded = this.#text.value;
        fill(this.#outline, outline.recordTypes.length === 0 ? h("p", {}, "There are none yet.")
            : outline.recordTypes.map(type => h("details", {}, h("summary", {}, words`${type.name}, ${amount(type.fields
                .filter(each => !each.name.startsWith("___")).length, "field")}`),
            h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Fields of ${type.name}`}, h("table", {}, h("thead", {}, h("tr", {}, ["Field", "Type", "Indexes"]
                .map(text => h("th", {scope: "col"}, text)))),
            h("tbody", {}, type.fields.map(each => h("tr", {}, h("th", {scope: "row"}, each.name),
                h("td", {}, typeName(each)), h("td", {}, each.indexes.join(", "))))))))));
    }

    async #import(isDryRun) {
        fill(this.#message);
        try {
            const {changes} = await operate("PUT", this.#path, {text: this.#text.value, isDryRun: true});
            if (isDryRun || changes.length === 0) { fill(this.#message, list(changes, "Nothing would change.")); return; }
            const losing = changes.filter(each => each.losesData);
            if (losing.length > 0 && !await confirm("Import", [words`Records of ${place.container} in ${place.environment} may lose data, `,
                "because the schema that you import lacks these:", list(losing, "")], "Import")) return;
            const now = await operate("PUT", this.#path, {text: this.#text.value, isDryRun: true});
            if (!areEqual(now.changes, changes)) {
                fill(this.#message, h("p", {}, "The schema was changed meanwhile. Nothing is imported; this is what would change:"),
                    list(now.changes, "Nothing would change."));
                return;
            }
            await operate("PUT", this.#path, {text: this.#text.value});
            await this.#load();
            fill(this.#message, list(changes, ""));
            notify("The schema is imported");
        } catch (error) {
            fill(this.#message, problem(error));
            this.#select(error.message);
        }
    }

    /** Selects the line that an error names. */
    #select(message) {
        const found = /line (\d+)/.exec(message);
        if (!found) return;
        const lines = this.#text.value.split("\n");
        const start = lines.slice(0, Number(found[1]) - 1).join("\n").length + (Number(found[1]) > 1 ? 1 : 0);
        this.#text.focus();
        this.#text.setSelectionRange(start, start + (lines[Number(found[1]) - 1] ?? "").length);
    }

    #deployPath = () => containerPath("schemas/production/deploy");

    async #compare() {
        await this.attempt(async () => {
            this.#offer((await operate("POST", this.#deployPath(), {isDryRun: true})).changes);
        }, this.#deployment);
    }

    /** Shows what production lacks, and deploys exactly that. */
    #offer(changes, ...before) {
        fill(this.#deployment, before, list(changes, "Production has all that development has."), changes.length > 0 && [
            h("p", {}, "On iCloud, types and fields that were deployed stay for ever."),
            h("p", {class: "actions"}, button("Deploy", async () => {
                if (!await confirm("Deploy", [words`These changes reach the production of ${place.container}. `,
                    "Its types and fields cannot be deleted afterwards.", list(changes, "")], "Deploy")) return;
                await this.attempt(async () => {
                    const {changes: now} = await operate("POST", this.#deployPath(), {isDryRun: true});
                    if (!areEqual(now, changes)) {
                        this.#offer(now, h("p", {}, "Development was changed meanwhile. Nothing is deployed; this is what would be:"));
                        return;
                    }
                    await operate("POST", this.#deployPath());
                    fill(this.#deployment, h("p", {}, "Production has all that development has."));
                    notify("The schema is deployed");
                }, this.#deployment);
            }, {class: "main"}))]);
    }
}

/** Whether the person would read the same: the members of JSON come in any order. */
const areEqual = (some, others) => list(some, "").textContent === list(others, "").textContent;

/** Changes of a schema, those that lose data marked. */
function list(changes, none) {
    if (changes.length === 0) return h("p", {}, none);
    return h("ul", {class: "code-list"}, changes.map(each => h("li", {class: each.losesData ? "bad" : null},
        `${each.kind} ${each.recordType ? `${each.recordType}: ` : ""}${each.text}${each.losesData ? " (may lose data)" : ""}`)));
}

customElements.define("ck-schema", SchemaRoom);
