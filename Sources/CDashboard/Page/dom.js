// Elements and small things that all rooms use. Nothing here, or anywhere on the page, makes markup of text.

/** Makes an element: attributes, `on…` listeners and properties by name, then children; text stays text. */
export function h(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (key === "value" || key === "checked") element[key] = value;
        else element.setAttribute(key === "className" ? "class" : key, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
    return element;
}

/** Replaces all children. */
export function fill(element, ...children) {
    element.replaceChildren(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
    return element;
}

/** Replaces all children, and leaves the focus at the control where it was. */
export function refill(element, ...children) {
    const controls = () => [...element.querySelectorAll("select, input, button")];
    const index = controls().indexOf(document.activeElement);
    fill(element, ...children);
    if (index >= 0) controls()[index]?.focus();
    return element;
}

let fieldCount = 0;

/** A control with its label above it. */
export function field(label, control, hint) {
    control.id ||= `field-${++fieldCount}`;
    const note = hint ? h("small", {id: `${control.id}-hint`}, hint) : null;
    if (note) control.setAttribute("aria-describedby", note.id);
    return h("div", {class: "field"}, h("label", {for: control.id}, label), control, note);
}

/** A menu of choices, each a text or a pair of value and text. */
export function select(choices, chosen, properties = {}) {
    return h("select", properties, choices.map(choice => {
        const [value, text] = Array.isArray(choice) ? choice : [choice, choice];
        return h("option", {value, selected: value === chosen}, text);
    }));
}

export function button(text, onclick, properties = {}) {
    return h("button", {type: "button", onclick, ...properties}, text);
}

/** A sentence, as children of an element: whatever direction a value in it has, the words around it keep theirs. */
export const words = (texts, ...values) => texts.flatMap((text, index) => index === 0 ? [text] : [h("bdi", {}, values[index - 1]), text]);

/** A dialog that is shown, and gone when it is closed; while it `hasEdits`, it asks before. */
export function dialog(title, ...content) {
    const heading = h("h2", {id: `title-${++fieldCount}`}, title);
    const leave = async () => { if (await mayLose([element])) element.close(); };
    const element = h("dialog", {"aria-labelledby": heading.id,
        oncancel: event => { event.preventDefault(); leave(); },
        // Browsers let nobody cancel the second Escape.
        onkeydown: event => { if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); leave(); } }},
    h("header", {}, heading, button("Close", leave, {class: "quiet"})),
    h("div", {class: "content"}, content));
    element.hasEdits = () => isTyped(element);
    // Where it belongs: it goes when the page shows something else.
    element.address = location.hash;
    element.addEventListener("close", () => element.remove());
    document.body.append(element);
    element.showModal();
    return element;
}

/** Asks before something that cannot be taken back. */
export function confirm(title, text, action) {
    return new Promise(resolve => {
        const element = dialog(title, h("p", {}, text), h("footer", {},
            button("Cancel", () => element.close(), {class: "quiet"}),
            button(action, () => { element.returnValue = "yes"; element.close("yes"); }, {class: "danger"})));
        element.addEventListener("close", () => {
            const isSure = element.returnValue === "yes";
            // What was told before may not be true any more; what can be undone still can.
            if (isSure) for (const old of document.querySelectorAll(".message:not(:has(button + button))")) old.remove();
            resolve(isSure);
        });
    });
}

/** Asks whether what was typed into some elements and not saved may be lost. */
export async function mayLose(elements) {
    if (!elements.some(each => each.hasEdits?.())) return true;
    return confirm("Discard the changes", "What you changed here is not saved, and is lost when you leave.", "Discard");
}

/** What is open and may have edits: the room, and the dialogs over it. */
export const editors = () => [...document.querySelectorAll("dialog[open], main > *")];

/** Tells of something that was done, for a while; with a way back where there is one. */
export function notify(text, undo) {
    const place = document.querySelector("[data-messages]");
    const shown = h("div", {class: "message"}, h("span", {}, text),
        // What was not undone can be tried again.
        undo && button("Undo", async () => {
            shown.remove();
            try {
                await undo();
            } catch (error) {
                if (error.name !== "AbortError") notify(message(error), undo);
            }
        }),
        button("Dismiss", () => shown.remove(), {class: "quiet"}));
    // A dialog that is open lies over all else; many messages would hide what is below them.
    const list = document.querySelector("dialog[open] .messages") ?? place;
    while (list.childElementCount > 1) list.firstElementChild.remove();
    list.append(shown);
    setTimeout(() => shown.remove(), undo ? 30_000 : 8000);
}

/** A failure as everybody may read it, with what helps; what is no sentence of ours or of the server's is a defect of this page. */
export function problem(error) {
    const code = error.code ? `${error.code}: ` : "";
    return h("p", {class: "problem", role: "alert"}, code, h("bdi", {}, message(error)),
        error.needsKey && [" ", button("Enter the key", () => dispatchEvent(new Event("ck-key")))]);
}

/** What an error says: a sentence of ours or of the server's, never the browser's own words, which its console has. */
export function message(error) {
    if (error?.name === "Error") return error.message;
    if (["NotReadableError", "NotFoundError"].includes(error?.name)) {
        return "The file cannot be read: it was changed or removed after it was chosen, or reading it is not allowed; choose it again";
    }
    console.error(error);
    return "This page has made a mistake; reload it, and please report it with what the browser's console says";
}

export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        notify("Copied");
    } catch {
        dialog("Copy this", h("textarea", {readonly: true, rows: 12, "aria-label": "Text", value: text}));
    }
}

const bytesUnits = ["B", "kB", "MB", "GB", "TB"];
export function bytes(count) {
    let unit = 0;
    while (count >= 1000 && unit < bytesUnits.length - 1) { count /= 1000; unit++; }
    return `${unit === 0 ? count : count.toFixed(1)} ${bytesUnits[unit]}`;
}

export const number = value => value.toLocaleString("en");
/** What is counted, as it is called beside its count: a record, or records. */
export const plural = (count, what) => count === 1 ? what : `${what}s`;
export const amount = (count, what) => `${number(count)} ${plural(count, what)}`;
export const time = milliseconds => new Date(milliseconds).toISOString().slice(11, 23);
export const moment = milliseconds => {
    const date = new Date(Number(milliseconds));
    return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString().replace("T", " ").replace("Z", "");
};

/** The place of the choice with which a menu begins. */
const firstChoice = menu => Math.max(0, [...menu.options].findIndex(each => each.defaultSelected));

/** Whether something is typed or chosen in a form of an element, and not sent: a form that was sent is emptied, and one to search with has nothing to lose. */
const isTyped = element => [...element.querySelectorAll("form:not([role=search]) :is(input:not([type=file]), select, textarea)")]
    .some(each => each.options ? each.options.length > 0 && each.selectedIndex !== firstChoice(each) : each.value !== each.defaultValue);

/** Lets a form begin with what is chosen in it, once that was sent. */
export function keepChoices(form) {
    for (const option of form.querySelectorAll("option")) option.defaultSelected = option.selected;
}

/** A room of the page: `show()` fills it, and its signal ends with it. */
export class Room extends HTMLElement {
    #ends = new AbortController();
    get signal() { return this.#ends.signal; }

    connectedCallback() {
        this.#ends = new AbortController();
        Promise.resolve(this.show()).catch(error => {
            if (error.name !== "AbortError") this.append(problem(error));
        });
    }

    disconnectedCallback() { this.#ends.abort(); }

    /** Whether something would be lost with the room. */
    hasEdits() { return isTyped(this); }

    /** Runs an action of the person, and shows why it failed; what was shown of an earlier one goes. */
    async attempt(action, place = this) {
        for (const old of [...document.querySelectorAll("[data-attempt]"), ...place.querySelectorAll(":scope > .problem")]) old.remove();
        try {
            return await action();
        } catch (error) {
            if (error.name === "AbortError") return undefined;
            const shown = problem(error);
            shown.dataset.attempt = "";
            place.prepend(shown);
            shown.scrollIntoView({block: "nearest"});
            return undefined;
        }
    }
}
