// What refers to what: a zone's records as a picture, and as a table for everybody who does not see it.
import {call, place, nameOf} from "./api.js";
import {h, fill, refill, field, select, button, number, plural, amount, words, Room} from "./dom.js";
import {Layout} from "./layout.js";
import {readNetwork, MOST} from "./network.js";
import {address, databaseOf, tellOfLostZone} from "./records.js";
import {ListSource} from "./grid.js";

/** Milliseconds of a frame for placing nodes; drawing comes on top of them. */
const SLICE = 8;
const COLORS = 8;
/** Names that are drawn at most: more would cover each other. */
const NAMES = 40;

class Graph extends Room {
    #choices = h("form", {class: "choices", role: "search"});
    #message = h("div", {});
    #legend = h("fieldset", {class: "legend"});
    #canvas = h("canvas", {tabindex: "0", role: "application", "aria-roledescription": "graph", "aria-describedby": "graph-keys"});
    #said = h("p", {role: "status"});
    #actions = h("p", {class: "actions"});
    #table = h("ck-grid", {label: "Records of the graph", opens: true});
    #drawn = h("section", {hidden: true});
    #zones = [];
    #graph = null;
    #layout = null;
    #hidden = new Set();
    #types = [];
    #selected = -1;
    #frame = 0;
    #view = {x: 0, y: 0, scale: 1, isChosen: false};

    get where() {
        const query = new URLSearchParams(location.hash.split("?")[1] ?? "");
        return {
            database: databaseOf(query), zone: query.get("zone") ?? "",
            owner: query.get("owner") ?? "", record: query.get("record") ?? "", steps: Math.min(Math.max(Math.trunc(Number(query.get("steps"))) || 1, 1), 3),
        };
    }

    go(change) { location.hash = graphAddress({...this.where, ...change}); }

    async show() {
        this.#choices.addEventListener("submit", event => {
            event.preventDefault();
            this.go({record: this.#choices.querySelector("input").value.trim()});
        });
        fill(this.#drawn, this.#legend, h("div", {class: "picture"}, this.#canvas, h("p", {class: "actions"},
            button("+", () => this.#zoom(1.4), {"aria-label": "Larger"}), button("−", () => this.#zoom(1 / 1.4), {"aria-label": "Smaller"}),
            button("Fit", () => this.#fit()))),
        h("p", {class: "note", id: "graph-keys"}, "Arrows go to the next record in their direction, Enter opens it, + and − change the size, F fits all."),
        this.#said, this.#actions, h("h2", {}, "As a table"), this.#table);
        fill(this, h("h1", {}, "Graph"), this.#choices, this.#message, this.#drawn);
        this.#listen();
        await this.navigate();
    }

    async navigate() { await this.attempt(() => this.#choose(), this.#message); }

    get zoneID() {
        const {zone, owner} = this.where;
        return this.#zones.find(each => each.zoneName === zone && (!owner || each.ownerRecordName === owner))
            ?? this.#zones.find(each => each.zoneName !== "_defaultZone") ?? this.#zones[0];
    }

    async #choose() {
        const {database, record, steps} = this.where;
        const {zones} = await call(database, "zones/list", undefined, {signal: this.signal});
        this.#zones = zones.map(each => each.zoneID);
        tellOfLostZone(this.where, this.zoneID, this.#zones.length);
        const key = zone => zone && `${zone.ownerRecordName ?? ""}/${zone.zoneName}`;
        refill(this.#choices,
            field("Database", select(place.user ? ["private", "public", "shared"] : ["public"], database,
                {onchange: event => this.go({database: event.target.value, zone: "", owner: "", record: ""})})),
            field("Zone", select(this.#zones.map(each => [key(each), database === "shared"
                ? `${each.zoneName} of ${nameOf(each.ownerRecordName)}` : each.zoneName]), key(this.zoneID), {onchange: event => {
                const [owner, ...name] = event.target.value.split("/");
                this.go({zone: name.join("/"), owner: database === "shared" ? owner : "", record: ""});
            }})),
            field("Around the record", h("input", {value: record, maxlength: 255}), "All when empty"),
            field("Steps", select(["1", "2", "3"], String(steps), {onchange: event => this.go({steps: Number(event.target.value)})})),
            h("p", {class: "actions"}, h("button", {}, "Show")));
        await this.#read();
    }

    async #read() {
        const {database, record, steps} = this.where, zoneID = this.zoneID;
        this.#drawn.hidden = true;
        fill(this.#message, h("p", {class: "note", role: "status"}, "Reading…"));
        if (!zoneID) { fill(this.#message, h("p", {}, "There are no zones here.")); return; }
        const asked = this.#asked = Symbol("question");
        const graph = await readNetwork({database, zoneID, record, steps}, this.signal)
            .finally(() => { if (asked === this.#asked) fill(this.#message); });
        if (asked !== this.#asked) return;
        const {records, edges, beyond, isCut, unseen} = graph;
        fill(this.#message, h("p", {}, records.length === 0 ? record ? words`There is no record ${record} here.` : "There are no records here."
            : `${amount(records.length, "record")}, ${amount(edges.length, "reference")}`
            + `${beyond > 0 ? `, and ${number(beyond)} more to records that are not shown` : ""}.`),
        isCut && h("p", {class: "note"}, `More than ${number(MOST)} records are not shown at once; look around one of them.`),
        unseen > 0 && h("p", {class: "note"}, `${number(unseen)} ${plural(unseen, "type")} or ${plural(unseen, "field")} without an index QUERYABLE ${unseen === 1 ? "was" : "were"} not looked at.`));
        this.#graph = graph;
        this.#types = [...new Set(records.map(each => each.recordType))].sort();
        this.#hidden.clear();
        this.#layout = new Layout(records.length, edges);
        this.#view = {x: 0, y: 0, scale: 1, isChosen: false};
        this.#drawn.hidden = records.length === 0;
        this.#explain();
        this.#tabulate();
        this.#select(record && graph.places.has(record) ? graph.places.get(record) : -1);
        this.#draw();
    }
    #asked;

    /** The types with their colours and shapes, each to be hidden. */
    #explain() {
        const count = type => this.#graph.records.reduce((sum, each) => sum + (each.recordType === type ? 1 : 0), 0);
        fill(this.#legend, h("legend", {}, "Types"), this.#types.map((type, index) => h("label", {},
            h("input", {type: "checkbox", checked: true, onchange: event => {
                if (event.target.checked) this.#hidden.delete(type);
                else this.#hidden.add(type);
                this.#draw();
            }}), h("i", {class: `swatch shape-${index % 4}`, "data-color": index % COLORS}), words`${type} (${number(count(type))})`)));
        this.#canvas.setAttribute("aria-label", `Graph of ${amount(this.#graph.records.length, "record")}; the table below says the same`);
    }

    #tabulate() {
        const {records, refersTo, referredBy} = this.#graph;
        const names = nodes => nodes.length > 20 ? `${nodes.slice(0, 20).map(each => records[each].recordName).join(", ")}, and ${nodes.length - 20} more`
            : nodes.map(each => records[each].recordName).join(", ");
        this.#table.show([
            {label: "recordName", text: node => records[node].recordName, kind: () => "name"},
            {label: "type", text: node => records[node].recordType},
            {label: "refers to", width: "minmax(9rem, 2fr)", text: node => names(refersTo[node])},
            {label: "referred to by", width: "minmax(9rem, 2fr)", text: node => names(referredBy[node])},
        ], new ListSource(records.map((_, node) => node)));
    }

    #listen() {
        const canvas = this.#canvas;
        this.#table.addEventListener("ck-open", event => this.#open(event.detail));
        const resized = new ResizeObserver(() => this.#draw());
        resized.observe(canvas);
        const scheme = matchMedia("(prefers-color-scheme: dark)");
        const redraw = () => this.#draw();
        scheme.addEventListener("change", redraw);
        this.signal.addEventListener("abort", () => {
            resized.disconnect();
            scheme.removeEventListener("change", redraw);
            cancelAnimationFrame(this.#frame);
        });
        canvas.addEventListener("keydown", event => this.#press(event));
        canvas.addEventListener("dblclick", () => this.#selected >= 0 && this.#open(this.#selected));
        // The wheel is the page's, until the picture is in use.
        canvas.addEventListener("wheel", event => {
            if (document.activeElement !== canvas) return;
            event.preventDefault();
            this.#zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
        }, {passive: false});
        let last = null, isMoved = false;
        canvas.addEventListener("pointerdown", event => {
            last = [event.clientX, event.clientY];
            isMoved = false;
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", event => {
            if (!last) return;
            const dx = event.clientX - last[0], dy = event.clientY - last[1];
            if (!isMoved && Math.hypot(dx, dy) < 4) return;
            isMoved = true;
            last = [event.clientX, event.clientY];
            Object.assign(this.#view, {x: this.#view.x + dx, y: this.#view.y + dy, isChosen: true});
            this.#draw();
        });
        canvas.addEventListener("pointerup", event => {
            if (!isMoved) this.#select(this.#nodeAt(event.offsetX, event.offsetY));
            last = null;
        });
        canvas.addEventListener("pointercancel", () => { last = null; });
    }

    #press(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const ways = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
        const actions = {"+": () => this.#zoom(1.4), "=": () => this.#zoom(1.4), "-": () => this.#zoom(1 / 1.4), f: () => this.#fit(),
            Home: () => this.#select(this.#center()), Enter: () => this.#selected >= 0 && this.#open(this.#selected)};
        const action = event.key in ways ? () => this.#step(...ways[event.key]) : actions[event.key];
        if (!action) return;
        event.preventDefault();
        event.stopPropagation();
        action();
    }

    #isShown = node => !this.#hidden.has(this.#graph.records[node].recordType);

    /** The record with the most references. */
    #center() {
        let best = -1;
        this.#graph.records.forEach((_, node) => {
            if (this.#isShown(node) && (best < 0 || this.#layout.degree[node] > this.#layout.degree[best])) best = node;
        });
        return best;
    }

    /** Selects the nearest record in a direction, straight ahead rather than aside. */
    #step(wayX, wayY) {
        if (this.#selected < 0) { this.#select(this.#center()); return; }
        const {x, y, count} = this.#layout;
        let best = this.#selected, least = Infinity;
        for (let node = 0; node < count; node++) {
            const dx = x[node] - x[this.#selected], dy = y[node] - y[this.#selected];
            const ahead = dx * wayX + dy * wayY, aside = Math.abs(dx * wayY) + Math.abs(dy * wayX);
            if (node === this.#selected || ahead <= 0 || aside > 2 * ahead || !this.#isShown(node)) continue;
            if (ahead + 2 * aside < least) { least = ahead + 2 * aside; best = node; }
        }
        this.#select(best);
        this.#reveal(best);
    }

    /** Moves the picture until a record is in it. */
    #reveal(node) {
        const {clientWidth, clientHeight} = this.#canvas, [x, y] = this.#at(node);
        const edge = 30, into = (value, length) => Math.max(edge - value, 0) + Math.min(length - edge - value, 0);
        const dx = into(x, clientWidth), dy = into(y, clientHeight);
        if (dx || dy) Object.assign(this.#view, {x: this.#view.x + dx, y: this.#view.y + dy, isChosen: true});
    }

    #select(node) {
        this.#selected = node;
        const graph = this.#graph;
        if (node < 0) {
            this.#said.textContent = "";
            fill(this.#actions);
        } else {
            const {recordName, recordType} = graph.records[node];
            fill(this.#said, words`${recordName}, ${recordType}: refers to ${number(graph.refersTo[node].length)}, referred to by ${number(graph.referredBy[node].length)}`);
            fill(this.#actions, button("Open the record", () => this.#open(node)),
                recordName !== this.where.record && button("Look around it", () => this.go({record: recordName})));
        }
        this.#draw();
    }

    #open(node) {
        const {database, owner} = this.where, {recordName, recordType} = this.#graph.records[node];
        location.hash = address({database, owner, zone: this.zoneID.zoneName, type: recordType, record: recordName});
    }

    // MARK: The picture

    #at(node) {
        const {x, y, scale} = this.#view;
        return [this.#layout.x[node] * scale + x, this.#layout.y[node] * scale + y];
    }

    #radius = node => Math.min(3 + Math.sqrt(this.#layout.degree[node]), 12) * Math.min(Math.max(this.#view.scale, 0.4), 1.5);

    #nodeAt(x, y) {
        let best = -1, least = Infinity;
        for (let node = 0; node < this.#layout.count; node++) {
            const [nodeX, nodeY] = this.#at(node), distance = Math.hypot(nodeX - x, nodeY - y);
            if (distance < least && distance < this.#radius(node) + 6 && this.#isShown(node)) { least = distance; best = node; }
        }
        return best;
    }

    #zoom(factor, x = this.#canvas.clientWidth / 2, y = this.#canvas.clientHeight / 2) {
        const view = this.#view, scale = Math.min(Math.max(view.scale * factor, 0.02), 20);
        const real = scale / view.scale;
        this.#view = {x: x + (view.x - x) * real, y: y + (view.y - y) * real, scale, isChosen: true};
        this.#draw();
    }

    #fit() {
        this.#view.isChosen = false;
        this.#draw();
    }

    /** Chooses the view in which everything is seen. */
    #frameAll(width, height) {
        const {x, y} = this.#layout;
        let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
        for (let node = 0; node < this.#layout.count; node++) {
            left = Math.min(left, x[node]); right = Math.max(right, x[node]);
            top = Math.min(top, y[node]); bottom = Math.max(bottom, y[node]);
        }
        const scale = Math.min((width - 60) / (right - left || 1), (height - 60) / (bottom - top || 1), 2);
        Object.assign(this.#view, {scale, x: width / 2 - (left + right) / 2 * scale, y: height / 2 - (top + bottom) / 2 * scale});
    }

    /** Draws with the next frame, and goes on until the nodes have found their places. */
    #draw() {
        if (this.#frame || !this.isConnected) return;
        this.#frame = requestAnimationFrame(() => {
            this.#frame = 0;
            if (!this.#layout || this.#layout.count === 0) return;
            const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
            this.#layout.advance(performance.now() + SLICE);
            if (!isStill || this.#layout.isDone) this.#paint();
            this.#canvas.toggleAttribute("data-done", this.#layout.isDone);
            if (!this.#layout.isDone) this.#draw();
        });
    }

    #paint() {
        const canvas = this.#canvas, ratio = devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight;
        if (width === 0) return;
        if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
        }
        if (!this.#view.isChosen) this.#frameAll(width, height);
        const pen = canvas.getContext("2d");
        const style = getComputedStyle(canvas);
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.clearRect(0, 0, width, height);
        this.#paintEdges(pen, style);
        this.#paintNodes(pen);
        this.#paintNames(pen, style, width, height);
    }

    #paintEdges(pen, style) {
        const near = [];
        pen.lineWidth = 1;
        pen.strokeStyle = style.borderTopColor;
        pen.beginPath();
        for (const [from, to] of this.#graph.edges) {
            if (!this.#isShown(from) || !this.#isShown(to)) continue;
            if (from === this.#selected || to === this.#selected) { near.push([from, to]); continue; }
            pen.moveTo(...this.#at(from));
            pen.lineTo(...this.#at(to));
        }
        pen.stroke();
        // Those of the selected one, with a head at what is referred to.
        pen.strokeStyle = pen.fillStyle = style.outlineColor;
        pen.lineWidth = 1.5;
        for (const [from, to] of near) {
            const [x1, y1] = this.#at(from), [x2, y2] = this.#at(to), angle = Math.atan2(y2 - y1, x2 - x1);
            const back = this.#radius(to) + 1, tipX = x2 - Math.cos(angle) * back, tipY = y2 - Math.sin(angle) * back;
            pen.beginPath();
            pen.moveTo(x1, y1);
            pen.lineTo(tipX, tipY);
            pen.stroke();
            pen.beginPath();
            pen.moveTo(tipX, tipY);
            for (const side of [-0.4, 0.4]) pen.lineTo(tipX - Math.cos(angle + side) * 8, tipY - Math.sin(angle + side) * 8);
            pen.fill();
        }
    }

    #paintNodes(pen) {
        const {records} = this.#graph;
        const swatches = [...this.#legend.querySelectorAll(".swatch")].map(each => getComputedStyle(each).backgroundColor);
        const byType = new Map(this.#types.map((type, index) => [type, index]));
        for (let node = 0; node < records.length; node++) {
            if (!this.#isShown(node)) continue;
            const type = byType.get(records[node].recordType), [x, y] = this.#at(node), radius = this.#radius(node);
            pen.fillStyle = swatches[type];
            pen.beginPath();
            outline(pen, type % 4, x, y, radius);
            pen.fill();
            if (node !== this.#selected) continue;
            pen.strokeStyle = getComputedStyle(this.#canvas).color;
            pen.lineWidth = 2;
            pen.beginPath();
            pen.arc(x, y, radius + 4, 0, 2 * Math.PI);
            pen.stroke();
        }
    }

    /** Names of the selected record, of those next to it, and of all when few are in sight. */
    #paintNames(pen, style, width, height) {
        const {records, refersTo, referredBy} = this.#graph, named = new Set();
        if (this.#selected >= 0) {
            for (const node of [this.#selected, ...refersTo[this.#selected], ...referredBy[this.#selected]]) named.add(node);
        }
        const inSight = records.map((_, node) => node).filter(node => {
            const [x, y] = this.#at(node);
            return this.#isShown(node) && x > 0 && y > 0 && x < width && y < height;
        });
        if (inSight.length <= NAMES) for (const node of inSight) named.add(node);
        pen.fillStyle = style.color;
        pen.font = "12px system-ui, sans-serif";
        for (const node of [...named].slice(0, NAMES)) {
            if (!this.#isShown(node)) continue;
            const [x, y] = this.#at(node), name = records[node].recordName;
            pen.fillText(name.length > 30 ? `${name.slice(0, 29)}…` : name, x + this.#radius(node) + 4, y + 4);
        }
    }
}

/** One of four shapes, so that no type is told by its colour alone. */
function outline(pen, shape, x, y, radius) {
    switch (shape) {
    case 0: pen.arc(x, y, radius, 0, 2 * Math.PI); break;
    case 1: pen.rect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8); break;
    case 2: pen.moveTo(x, y - radius * 1.2); pen.lineTo(x + radius * 1.1, y + radius * 0.8); pen.lineTo(x - radius * 1.1, y + radius * 0.8); break;
    default: for (const [dx, dy] of [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]]) pen.lineTo(x + dx * radius, y + dy * radius);
    }
}

/** The address of a place in this room. */
export function graphAddress({database, zone, owner, record, steps}) {
    const values = {database, zone, owner, record, steps: steps > 1 ? String(steps) : ""};
    return `#/graph?${new URLSearchParams(Object.entries(values).filter(([, value]) => value))}`;
}

customElements.define("ck-graph", Graph);
