// What there is, and what is going on.
import {operate, feed} from "./api.js";
import {h, fill, Room, number, plural, bytes} from "./dom.js";

/** Seconds that the lines show. */
const SPAN = 60;

class Overview extends Room {
    #seconds = new Map();
    #rate = h("ck-line", {label: "Requests a second, over the last minute", unit: ""});
    #latency = h("ck-line", {label: "Longest request of each second, over the last minute", unit: " ms"});
    #skew = 0;

    async show() {
        const cards = h("div", {class: "cards"});
        const containers = h("div", {});
        fill(this, h("h1", {}, "Overview"), cards,
            h("section", {class: "lines"}, h("div", {}, h("h2", {}, "Requests a second"), this.#rate),
                h("div", {}, h("h2", {}, "Milliseconds"), this.#latency)),
            h("h2", {}, "Containers"), containers);
        await this.#look(cards, containers);
        feed.listen(this.signal, entries => this.#count(entries));
        let round = 0;
        const timer = setInterval(() => {
            if (document.visibilityState !== "visible") return;
            this.#draw();
            if (++round % 10 === 0) this.#look(cards, containers).catch(() => {});
        }, 1000);
        this.signal.addEventListener("abort", () => clearInterval(timer));
        this.#draw();
    }

    async #look(cards, containers) {
        const now = await operate("GET", "overview", undefined, this.signal);
        this.#skew = now.milliseconds - Date.now();
        const all = now.containers.flatMap(each => each.environments);
        const sum = name => all.reduce((total, each) => total + each[name], 0);
        const card = (name, value, href) => h(href ? "a" : "div", {class: "card", href},
            h("span", {class: "figure"}, value), h("span", {}, name));
        const count = (what, value, href, more = "") => card(plural(value, what) + more, number(value), href);
        fill(cards,
            count("record", sum("records"), "#/records"), count("zone", sum("zones")),
            count("user", now.containers.reduce((total, each) => total + each.users, 0), "#/users"),
            card("stored", bytes(sum("bytes"))), count("fault", now.faultRules, "#/faults", " in force"),
            count("connection", now.connections), card("waiting for news", number(now.waitingRequests)),
            now.version && card("version", now.version));
        fill(containers, h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Containers"},
            h("table", {}, h("thead", {}, h("tr", {}, ["Container", "Environment", "Users", "Zones", "Records", "Bytes", "Types"]
                .map(text => h("th", {scope: "col"}, text)))),
            h("tbody", {}, now.containers.flatMap(container => container.environments.map(each => h("tr", {},
                h("th", {scope: "row"}, container.container), h("td", {}, each.environment),
                h("td", {class: "number"}, number(container.users)), h("td", {class: "number"}, number(each.zones)),
                h("td", {class: "number"}, number(each.records)), h("td", {class: "number"}, bytes(each.bytes)),
                h("td", {}, each.recordTypes.join(", ")))))))));
    }

    #count(entries) {
        for (const entry of entries) {
            const second = Math.floor(entry.time / 1000);
            const [count, longest] = this.#seconds.get(second) ?? [0, 0];
            this.#seconds.set(second, [count + 1, Math.max(longest, entry.milliseconds)]);
        }
        this.#draw();
    }

    #draw() {
        const now = Math.floor((Date.now() + this.#skew) / 1000);
        const past = Array.from({length: SPAN}, (_, index) => this.#seconds.get(now - SPAN + 1 + index) ?? [0, 0]);
        for (const second of this.#seconds.keys()) if (second < now - SPAN) this.#seconds.delete(second);
        this.#rate.values = past.map(([count]) => count);
        this.#latency.values = past.map(([, longest]) => longest);
    }
}

/** A line through some numbers, with its last and its highest in words. */
class Line extends HTMLElement {
    set values(values) {
        const height = 40, width = 200, top = Math.max(...values, 1);
        const points = values.map((value, index) =>
            `${(index / (values.length - 1)) * width},${height - (value / top) * (height - 2) - 1}`).join(" ");
        if (!this.firstElementChild) {
            const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
            svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
            svg.setAttribute("preserveAspectRatio", "none");
            svg.setAttribute("role", "img");
            svg.append(document.createElementNS("http://www.w3.org/2000/svg", "polyline"));
            this.append(svg, h("span", {}));
        }
        const [svg, words] = this.children;
        const shown = value => `${Math.round(value * 10) / 10}${this.getAttribute("unit")}`;
        const text = `now ${shown(values.at(-1))}, highest ${shown(Math.max(...values))}`;
        svg.setAttribute("aria-label", `${this.getAttribute("label")}: ${text}`);
        svg.firstElementChild.setAttribute("points", points);
        words.textContent = text;
    }
}

customElements.define("ck-line", Line);
customElements.define("ck-overview", Overview);
