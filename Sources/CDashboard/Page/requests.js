// The journal: each request that the server responded to, as it comes.
import {Failure, operate, feed, call, parse, stringify, place, nameOf, statusOf} from "./api.js";
import {h, fill, field, select, button, dialog, problem, copy, time, moment, bytes, number, plural, amount, notify, words, confirm, Room} from "./dom.js";
import {ListSource} from "./grid.js";

/** Returns whether the client of a request did not get what it asked for. */
const isProblem = entry => entry.problems.length > 0 || entry.status >= 400 || Boolean(entry.loss);

class Requests extends Room {
    #grid = h("ck-grid", {label: "Requests, the newest first", opens: true});
    #filter = h("input", {type: "search"});
    #which = select([["all", "All"], ["problems", "With problems"], ["faults", "With faults"]], "all");
    #isHeld = h("input", {type: "checkbox"});

    async show() {
        const bar = h("div", {class: "choices"}, field("Look for", this.#filter), field("Which", this.#which),
            h("p", {class: "actions"}, h("label", {}, this.#isHeld, " Hold still"),
                button("Forget all", () => this.#clear(), {class: "danger"})));
        fill(this, h("h1", {}, "Requests"), bar, this.#grid);
        this.#filter.addEventListener("input", () => this.#draw());
        this.#which.addEventListener("change", () => this.#draw());
        this.#isHeld.addEventListener("change", () => this.#draw());
        this.#grid.addEventListener("ck-open", event => this.#open(event.detail));
        this.#draw(true);
        feed.listen(this.signal, () => this.#draw());
    }

    #columns = [
        {label: "time", note: "UTC", width: "8rem", text: entry => time(entry.time)},
        {label: "status", width: "5rem", text: statusOf, kind: entry => isProblem(entry) ? "bad" : "good"},
        {label: "endpoint", width: "minmax(11rem, 1fr)", text: entry => `${entry.method} ${entry.endpoint}`},
        {label: "user", width: "8rem", text: entry => entry.user ? nameOf(entry.user) : ""},
        {label: "ms", width: "6rem", text: entry => entry.milliseconds.toFixed(1), kind: () => "number"},
        {label: "response", width: "7rem", text: entry => bytes(entry.bytes), kind: () => "number"},
        {label: "problem", width: "minmax(14rem, 3fr)", text: entry => {
            const faults = entry.faults.length > 0 ? `fault ${entry.faults.map(each => each + 1).join(", ")}  ` : "";
            return faults + entry.problems.map(each => `${each.code}: ${each.reason}`).join("; ");
        }},
        {label: "place", width: "minmax(9rem, 1fr)", text: entry => [entry.container, entry.database].filter(Boolean).join(" ")},
    ];

    #draw(isFirst) {
        if (!isFirst && this.#isHeld.checked) return;
        const words = this.#filter.value.trim().toLowerCase();
        const rows = feed.entries.filter(entry =>
            (this.#which.value !== "problems" || isProblem(entry))
            && (this.#which.value !== "faults" || entry.faults.length > 0)
            && (!words || this.#columns.some(column => column.text(entry).toLowerCase().includes(words)))).reverse();
        if (this.source) {
            // The keyboard stays at its request, however many come before it.
            // Before somebody has been there, it is at the newest; a dialog has the focus while one is open.
            if (this.#grid.active > 0 || this.#grid.contains(document.activeElement)) {
                this.#grid.active = Math.max(0, rows.indexOf(this.source.row(this.#grid.active)));
            }
            this.source.rows = rows;
            this.#grid.draw();
        } else {
            this.source = new ListSource(rows);
            this.#grid.show(this.#columns, this.source);
        }
    }

    async #clear() {
        if (!await confirm("Delete the list", "The server deletes its list of requests, for this page and the command line. "
            + "The requests themselves keep what they did.", "Delete the list")) return;
        await this.attempt(async () => {
            await operate("DELETE", "journal");
            feed.clear();
            this.#draw(true);
        });
    }

    async #open(entry) {
        await this.attempt(async () => {
            const {bodies} = await operate("GET", `journal/${entry.number}`).catch(error => {
                if (error.status === 404) throw new Error("The server keeps this request no more: somebody emptied its list, or a thousand have come since");
                throw error;
            });
            const code = (title, text) => h("section", {}, h("h3", {}, title),
                text ? h("pre", {tabindex: "0", role: "region", "aria-label": title}, pretty(text)) : h("p", {class: "note"}, "Empty"),
                text && button("Copy", () => copy(text), {"aria-label": `Copy ${title}`}));
            const outcome = h("div", {});
            const rows = [
                ["Time", moment(entry.time)], ["Status", statusOf(entry)], ["User", entry.user && words`${nameOf(entry.user)} (${entry.user})`],
                ["Container", entry.container], ["Database", entry.database], ["Took", `${entry.milliseconds.toFixed(2)} ms`],
                ["Response", bytes(entry.bytes)], ["Identifier", entry.id],
                ["Faults", entry.faults.length > 0 && `${plural(entry.faults.length, "rule")} ${entry.faults.map(each => each + 1).join(", ")} of the plan took effect`],
            ];
            const element = dialog(words`${entry.method} ${entry.endpoint}`,
                h("dl", {}, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
                entry.problems.map(each => h("div", {class: "problem"}, h("p", {}, words`${[each.item, each.code].filter(Boolean).join(" ")}: ${each.reason}`),
                    h("p", {}, words`→ ${each.remedy}`))),
                bodies ? [code("Request", bodies.request), code("Response", bodies.response),
                    !bodies.isWhole && h("p", {class: "note"}, "Only the beginnings of long bodies are kept.")]
                    : h("p", {class: "note"}, "This server keeps no bodies, because other machines may reach it."),
                this.#canReplay(entry, bodies) && h("footer", {}, outcome,
                    button("Send it again", () => this.#replay(entry, bodies, outcome), {class: "main"})));
            element.classList.add("wide");
        });
    }

    #canReplay(entry, bodies) {
        return bodies && entry.database && entry.container === place.container
            && entry.database.startsWith(`${place.environment}/`)
            && new TextEncoder().encode(bodies.request).length < 8192 && !/^(tokens|device)/.test(entry.endpoint);
    }

    async #replay(entry, bodies, outcome) {
        const database = entry.database.split("/")[1];
        try {
            const response = await call(database, entry.endpoint, undefined,
                {user: entry.user ?? "", text: entry.method === "GET" ? undefined : bodies.request});
            const items = Object.values(response).filter(Array.isArray).flat(), refused = items.filter(each => each?.serverErrorCode);
            fill(outcome, refused.length === 0 ? h("p", {class: "good"}, "It was carried out.")
                : h("p", {class: "bad"}, refused.length === items.length ? "It was refused." : `${number(refused.length)} of ${amount(items.length, "item")} ${refused.length === 1 ? "was" : "were"} refused.`),
            refused.slice(0, 5).map(each => problem(new Failure(200, named(each)))),
                h("pre", {tabindex: "0", role: "region", "aria-label": "New response"}, stringify(response, 1)));
        } catch (error) {
            fill(outcome, problem(error));
        }
        notify("Sent again");
    }
}

/** An item of a response, with its name before the reason, which may not have it. */
function named(item) {
    const name = item.recordName ?? item.subscriptionID ?? (item.zoneID ?? item.zone?.zoneID)?.zoneName;
    return {...item, reason: [name, item.reason].filter(Boolean).join(": ") || undefined};
}

/** JSON with its lines; a body that was cut stays as it is. */
function pretty(text) {
    try { return stringify(parse(text), 1); } catch { return text; }
}

customElements.define("ck-requests", Requests);
