// The frame around the rooms: where requests go, which room is open, and the key.
import {noResponse, takeKey, setKey, hasKey, needsKey, operate, containerPath, place, acting, people, setPeople, connection, feed} from "./api.js";
import {h, fill, refill, field, select, dialog, mayLose, editors, notify, problem, message, time, words} from "./dom.js";

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
    #lost = h("p", {class: "lost problem", role: "alert", hidden: true});
    #keyDialog = null;
    /** Whether it is asked at the moment if edits may be lost. */
    #isAsking = false;
    #room = "";
    /** The address of what is shown. */
    #address = "";
    /** Whether it is known where requests go. */
    #isReady = false;
    /** The container whose users can be chosen. */
    #container = "";

    async connectedCallback() {
        takeKey();
        place.follow();
        fill(this,
            h("a", {class: "skip", href: "#room", onclick: event => { event.preventDefault(); this.#main.focus(); }},
                "Skip to the room"),
            h("header", {class: "frame"}, h("strong", {}, "CloudKit"), this.#bar, this.#lost), this.#nav, this.#main);
        // Behind all else, so that the end of a room is never below them.
        document.body.append(h("div", {class: "messages", "data-messages": "", role: "status", "aria-live": "polite"}));
        addEventListener("ck-key", () => this.#askForKey());
        addEventListener("ck-connection", () => this.#tellConnection());
        addEventListener("hashchange", event => this.#navigate(event.oldURL));
        // Back to another container changes what is before the sign, which the event above does not tell everywhere.
        addEventListener("popstate", () => { if (place.isElsewhere()) this.#navigate(this.#address); });
        addEventListener("beforeunload", event => { if (editors().some(each => each.hasEdits?.())) event.preventDefault(); });
        addEventListener("ck-place", () => this.#place());
        addEventListener("ck-people", () => { if (!editors().some(each => each.hasEdits?.())) this.#renewPeople(); });
        addEventListener("keydown", event => this.#press(event));
        // A page that looks on hears at once when the server is gone.
        feed.listen(new AbortController().signal, () => {});
        await this.#begin();
    }

    /** Follows the address, unless the person wants to stay with what is not saved. */
    async #navigate(oldURL) {
        if (takeKey(new URL(oldURL).hash)) { await this.#begin(); return; }
        if (this.#isAsking) return;
        const open = editors();
        if (open.some(each => each.hasEdits?.())) {
            this.#isAsking = true;
            const isLost = await mayLose(open);
            this.#isAsking = false;
            if (!isLost) { history.pushState(null, "", oldURL); return; }
            // The question has its reply.
            for (const each of open) each.hasEdits = undefined;
        }
        const room = this.#room;
        // Back from another container leads to the one of before.
        if (place.follow()) { await this.#place(); return; }
        this.#show();
        if (needsKey()) this.#askForKey();
        else if (room !== this.#room) await this.#renewPeople();
    }

    /** Asks again who there is: a shell may have added or deleted somebody. */
    async #renewPeople() {
        const {container, user} = place;
        if (!this.#isReady || !container) return;
        // Who cannot be asked says so in the room.
        const {users} = await operate("GET", containerPath("users")).catch(() => ({}));
        const names = users?.map(each => each.userRecordName).join();
        if (!users || container !== place.container || names === [...people.keys()].join()) return;
        await this.#place(true);
        if (user !== place.user) this.#show(true);
    }

    /** Says since when nothing is heard of the server, and that it is there again. */
    #tellConnection() {
        const isLost = connection.lostSince !== null;
        this.#lost.hidden = !isLost;
        this.#main.classList.toggle("old", isLost);
        if (isLost) {
            this.#lost.textContent = `The connection to the server is lost since ${time(connection.lostSince).slice(0, 8)} UTC. `
                + "What is shown is from before; the page tries again every two seconds.";
        } else {
            notify("The connection is back");
            // Where the server that is back was first to refuse the key, another one is being typed.
            if (!this.#keyDialog && editors().every(each => !each.hasEdits?.())) this.#begin();
        }
    }

    async #begin() {
        this.#keyDialog?.close();
        // What is not saved stays, and can be saved with a new key too.
        const isKept = this.#isReady && editors().some(each => each.hasEdits?.());
        try {
            await this.#place(true);
            this.#isReady = true;
            if (!isKept) this.#show(true);
        } catch (error) {
            if (!isKept) fill(this.#main, problem(error));
        }
    }

    /** Shows where requests go, and lets the person choose. */
    async #place(isFirst) {
        const overview = await operate("GET", "overview");
        const names = overview.containers.map(each => each.container);
        // Kept, so that a container that is added later does not take its place when the page is loaded again.
        if (!names.includes(place.container)) {
            if (place.container && names.length > 0) notify(words`There is no container ${place.container}; what is shown is ${names[0]}`);
            place.set({container: names[0] ?? ""});
        }
        const {container} = place;
        let users = [];
        if (container) {
            ({users} = await operate("GET", containerPath("users")));
        }
        // Another container that was chosen meanwhile has users of its own, which are asked for.
        if (container !== place.container) return;
        const before = new Map(people);
        setPeople(users);
        acting.isAllowed = overview.actsAsUsers;
        const known = overview.actsAsUsers ? [...people] : [];
        // Before a choice, the one who was added first.
        const user = !overview.actsAsUsers ? ""
            : place.chosenUser ?? ((this.#container === container && place.user) || known[0]?.[0] || "");
        this.#container = container;
        if (user === "" || people.has(user)) {
            place.user = user;
        } else {
            place.set({user: ""});
            notify(words`${before.get(user) ?? "The user whom you had chosen"} was deleted: you act as nobody now`);
        }
        const choose = name => async event => {
            const {target} = event;
            const open = editors();
            if (await mayLose(open)) {
                for (const each of open) each.hasEdits = undefined;
                place.choose({[name]: target.value});
            } else {
                target.value = place[name];
            }
        };
        refill(this.#bar,
            field("Container", select(names, place.container, {onchange: choose("container")})),
            field("Environment", select(["development", "production"], place.environment, {onchange: choose("environment")})),
            field("Act as", select([["", "Nobody"], ...known], place.user, {onchange: choose("user")})));
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
        this.#address = location.href;
        const shown = this.#main.firstElementChild;
        // Another record of the same room is the room's own business.
        if (!isAnew && this.#room === room && shown?.navigate) {
            shown.navigate();
            this.#closeDialogs(each => each.address !== location.hash);
            return;
        }
        this.#room = room;
        fill(this.#main, h(`ck-${room}`));
        this.#closeDialogs(() => true);
        // The element begins as soon as its file has said what it is.
        import(`./${room}.js`).catch(() => fill(this.#main, problem(noResponse())));
    }

    /** Closes dialogs over what is not shown any more: what they would do is not meant for what is. */
    #closeDialogs(isOld) {
        for (const each of document.querySelectorAll("dialog[open]")) if (each !== this.#keyDialog && isOld(each)) each.close();
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
        if (this.#keyDialog) return;
        const input = h("input", {type: "password", name: "key", autocomplete: "off", required: true});
        const form = h("form", {onsubmit: async event => {
            event.preventDefault();
            setKey(input.value);
            element.close();
        }}, hasKey() && h("p", {class: "problem"}, "The key that this tab has is not the server's. Without --admin-key-file a server "
            + "makes a new one at each start."),
        h("p", {}, "Open the address that the server printed when it started, or type the key for operators."),
        field("Key", input), h("footer", {}, h("button", {}, "Open")));
        const element = this.#keyDialog = dialog(hasKey() ? "The key is wrong" : "The server asks for its key", form);
        element.addEventListener("close", () => {
            this.#keyDialog = null;
            if (input.value) this.#begin();
        });
    }
}

addEventListener("unhandledrejection", event => {
    if (event.reason?.name === "AbortError") { event.preventDefault(); return; }
    event.preventDefault();
    notify(message(event.reason));
});

customElements.define("ck-dashboard", Dashboard);
