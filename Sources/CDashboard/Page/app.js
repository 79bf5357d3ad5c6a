// The frame around the rooms: where requests go, which room is open, and the key.
import {takeKey, setKey, operate, place, people} from "./api.js";
import {h, fill, refill, field, select, button, dialog, notify, problem} from "./dom.js";

/** Each with the key that opens it, and a file of its name, which is loaded when it is opened first. */
const rooms = [
    ["overview", "Overview", "1"], ["records", "Records", "2"], ["changes", "Changes", "3"], ["graph", "Graph", "4"],
    ["schema", "Schema", "5"], ["users", "Users", "6"], ["sharing", "Sharing", "7"],
    ["subscriptions", "Subscriptions", "8"], ["requests", "Requests", "9"], ["faults", "Faults", "0"],
    ["snapshots", "Snapshots", "s"], ["sync", "Sync", "y"],
];

class Dashboard extends HTMLElement {
    #bar = h("div", {class: "place"});
    #links = new Map(rooms.map(([room, text, key]) => [room, h("a", {href: `#/${room}`, "aria-keyshortcuts": key}, text)]));
    #nav = h("nav", {"aria-label": "Rooms"}, h("ul", {}, [...this.#links.values()].map(link => h("li", {}, link))));
    #main = h("main", {id: "room", tabindex: "-1"});
    #asksForKey = false;
    #room = "";
    /** Whether it is known where requests go. */
    #isReady = false;

    async connectedCallback() {
        takeKey();
        fill(this,
            h("a", {class: "skip", href: "#room", onclick: event => { event.preventDefault(); this.#main.focus(); }},
                "Skip to the room"),
            h("header", {class: "frame"}, h("strong", {}, "CloudKit"), this.#bar), this.#nav, this.#main,
            h("div", {class: "messages", "data-messages": "", role: "status", "aria-live": "polite"}));
        addEventListener("ck-key", () => this.#askForKey());
        addEventListener("hashchange", () => this.#show());
        addEventListener("ck-place", () => this.#place());
        addEventListener("keydown", event => this.#press(event));
        await this.#begin();
    }

    async #begin() {
        try {
            await this.#place(true);
            this.#isReady = true;
            this.#show(true);
        } catch (error) {
            fill(this.#main, problem(error));
        }
    }

    /** Shows where requests go, and lets the person choose. */
    async #place(isFirst) {
        const overview = await operate("GET", "overview");
        const names = overview.containers.map(each => each.container);
        if (!names.includes(place.container)) {
            place.container = names[0] ?? "";
            place.user = "";
        }
        let users = [];
        if (place.container) {
            ({users} = await operate("GET", `containers/${encodeURIComponent(place.container)}/users`));
        }
        people.clear();
        for (const user of users) people.set(user.userRecordName, fullName(user));
        const known = overview.actsAsUsers ? [...people] : [];
        if (!known.some(([name]) => name === place.user)) place.user = isFirst ? known[0]?.[0] ?? "" : "";
        refill(this.#bar,
            field("Container", select(names, place.container,
                {onchange: event => place.choose({container: event.target.value, user: ""})})),
            field("Environment", select(["development", "production"], place.environment,
                {onchange: event => place.choose({environment: event.target.value})})),
            field("Act as", select([["", "Nobody"], ...known], place.user,
                {onchange: event => place.choose({user: event.target.value})})));
        if (!isFirst) this.#show(true);
    }

    #show(isAnew) {
        if (!this.#isReady) return;
        const name = location.hash.slice(2).split("?")[0];
        const [room, title] = rooms.find(([each]) => each === name) ?? rooms[0];
        for (const [each, link] of this.#links) {
            if (each === room) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
        document.title = `${title} – CloudKit`;
        const shown = this.#main.firstElementChild;
        // Another record of the same room is the room's own business.
        if (!isAnew && this.#room === room && shown?.navigate) {
            shown.navigate();
            return;
        }
        this.#room = room;
        fill(this.#main, h(`ck-${room}`));
        // The element begins as soon as its file has said what it is.
        import(`./${room}.js`).catch(error => fill(this.#main, problem(error)));
    }

    /** The rooms by their keys, where no text is being written. */
    #press(event) {
        const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
        if (!isPlain || event.target.closest("input, textarea, select, dialog")) return;
        const room = rooms.find(([, , key]) => key === event.key);
        if (!room) return;
        location.hash = `#/${room[0]}`;
        this.#main.focus();
    }

    #askForKey() {
        if (this.#asksForKey) return;
        this.#asksForKey = true;
        const input = h("input", {type: "password", name: "key", autocomplete: "off", required: true});
        const form = h("form", {onsubmit: async event => {
            event.preventDefault();
            setKey(input.value);
            element.close();
        }}, h("p", {}, "Open the address that the server printed when it started, or type the key for operators."),
        field("Key", input), h("footer", {}, h("button", {}, "Open")));
        const element = dialog("The server asks for its key", form);
        element.addEventListener("close", () => {
            this.#asksForKey = false;
            if (input.value) this.#begin();
        });
    }
}

function fullName(user) {
    return [user.givenName, user.familyName].filter(Boolean).join(" ") || user.emailAddress || user.userRecordName;
}

addEventListener("unhandledrejection", event => {
    if (event.reason?.name === "AbortError") { event.preventDefault(); return; }
    event.preventDefault();
    notify(event.reason?.message ?? "Something failed");
});

customElements.define("ck-dashboard", Dashboard);
