// A table of any length: a few rows of the document, moved to where the person looks.
import {h, fill, amount} from "./dom.js";

const HEIGHT = 32;

/**
 * The table. `columns` are {label, note, width, text(row)}; `source` has `count`, `isComplete` and `row(index)`, which
 * returns undefined for a row that is on its way, and calls `changed` when more is known. With the attribute `opens`, rows look as if
 * they led somewhere, and “ck-open” says to which.
 */
export class Grid extends HTMLElement {
    #columns = [];
    #source = null;
    #head = h("div", {class: "row head", role: "row"});
    #body = h("div", {class: "rows", role: "rowgroup"});
    #foot = h("p", {class: "foot", role: "status"});
    #rows = [];
    #active = 0;
    #drawing = 0;
    /** The rows that the body is high enough for. */
    #height = -1;
    #resized = new ResizeObserver(() => this.draw());

    connectedCallback() {
        if (!this.firstElementChild) {
            this.scroller = h("div", {class: "scroller", role: "grid", tabindex: "0", "aria-label": this.getAttribute("label")},
                h("div", {class: "heads", role: "rowgroup"}, this.#head), this.#body);
            this.scroller.addEventListener("scroll", () => this.draw(), {passive: true});
            this.scroller.addEventListener("keydown", event => this.#press(event));
            this.#body.addEventListener("click", event => this.#click(event));
            fill(this, this.scroller, this.#foot);
        }
        this.#resized.observe(this.scroller);
    }

    disconnectedCallback() { this.#resized.disconnect(); }

    show(columns, source) {
        this.#columns = columns;
        this.#source = source;
        this.#active = 0;
        source.changed = () => this.draw();
        const widths = columns.map(column => column.width ?? "minmax(9rem, 1fr)");
        this.style.setProperty("--columns", widths.join(" "));
        this.style.setProperty("--least", `${widths.reduce((sum, width) => sum + parseFloat(/[\d.]+/.exec(width)[0]), 0)}rem`);
        fill(this.#head, columns.map(column => h("div", {role: "columnheader"}, column.label,
            column.note && h("small", {}, column.note))));
        this.scroller.setAttribute("aria-colcount", columns.length);
        this.scroller.scrollTop = 0;
        this.#rows = [];
        this.#height = -1;
        fill(this.#body);
        this.draw();
    }

    /** The place of the row that the keyboard is at. */
    get active() { return this.#active; }
    set active(index) { this.#active = index; }

    /** Draws with the next frame, however often it is asked to. */
    draw() {
        if (this.#drawing || !this.#source) return;
        this.#drawing = requestAnimationFrame(() => {
            this.#drawing = 0;
            this.#drawNow();
        });
    }

    #drawNow() {
        const source = this.#source;
        const visible = Math.ceil(this.scroller.clientHeight / HEIGHT) + 8;
        const first = Math.max(0, Math.floor(this.scroller.scrollTop / HEIGHT) - 4);
        const count = source.count + (source.isComplete ? 0 : 1);
        if (this.#height !== count) {
            this.#height = count;
            this.#body.style.height = `${count * HEIGHT}px`;
        }
        while (this.#rows.length < Math.min(visible, count)) this.#addRow();
        const pool = this.#rows.length;
        for (let offset = 0; offset < pool; offset++) {
            const index = first + offset;
            // The same row of the document always shows the same places, so that little changes.
            this.#place(this.#rows[index % pool], index, count);
        }
        this.scroller.setAttribute("aria-rowcount", source.isComplete ? source.count + 1 : -1);
        const said = source.problem ? "" : `${amount(source.count, "row")}${source.isComplete ? "" : " so far"}`;
        // Screen readers are told of what is new, and of nothing else.
        if (this.#foot.textContent !== said) this.#foot.textContent = said;
        this.#mark();
    }

    #addRow() {
        const row = h("div", {class: "row", role: "row"}, this.#columns.map(() => h("div", {role: "gridcell"})));
        this.#rows.push(row);
        this.#body.append(row);
    }

    #place(row, index, count) {
        const isHidden = index >= count;
        if (row.hidden !== isHidden) row.hidden = isHidden;
        if (isHidden) return;
        const content = this.#source.row(index);
        if (row.dataset.index !== String(index)) {
            row.style.transform = `translateY(${index * HEIGHT}px)`;
            row.id = `row-${index}`;
            row.setAttribute("aria-rowindex", index + 2);
            row.dataset.index = index;
        }
        row.classList.toggle("waiting", content === undefined);
        this.#columns.forEach((column, place) => {
            const text = content === undefined ? "" : column.text(content);
            const cell = row.children[place];
            if (cell.textContent !== text) cell.textContent = text;
            const kind = content === undefined || !column.kind ? "" : column.kind(content);
            if (cell.className !== kind) cell.className = kind;
        });
    }

    #mark() {
        for (const row of this.#rows) {
            const isActive = String(Number(row.dataset.index) === this.#active);
            if (row.getAttribute("aria-selected") !== isActive) row.setAttribute("aria-selected", isActive);
        }
        const active = this.#rows.find(row => !row.hidden && Number(row.dataset.index) === this.#active);
        if (active) this.scroller.setAttribute("aria-activedescendant", active.id);
        else this.scroller.removeAttribute("aria-activedescendant");
    }

    #press(event) {
        const page = Math.max(1, Math.floor(this.scroller.clientHeight / HEIGHT) - 2);
        const last = Math.max(0, this.#source.count - 1);
        const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            this.#open(this.#active);
        } else if (event.key in steps) {
            event.preventDefault();
            this.#active = Math.min(last, Math.max(0, this.#active + steps[event.key]));
            const top = this.#active * HEIGHT;
            const {scrollTop, clientHeight} = this.scroller;
            if (top < scrollTop) this.scroller.scrollTop = top;
            else if (top + 2 * HEIGHT + HEIGHT / 2 > scrollTop + clientHeight) {
                this.scroller.scrollTop = top + 3 * HEIGHT - clientHeight;
            }
            this.draw();
        }
    }

    #click(event) {
        const row = event.target.closest(".row");
        if (!row) return;
        this.#active = Number(row.dataset.index);
        this.#mark();
        this.#open(this.#active);
    }

    #open(index) {
        const row = this.#source?.row(index);
        if (row !== undefined) this.dispatchEvent(new CustomEvent("ck-open", {detail: row}));
    }
}

/** Rows that are there, newest first or as they come. */
export class ListSource {
    constructor(rows) { this.rows = rows; }
    get count() { return this.rows.length; }
    isComplete = true;
    row(index) { return this.rows[index]; }
}

customElements.define("ck-grid", Grid);
