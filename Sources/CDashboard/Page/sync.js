// Which devices there are, and how far each is behind the zones that it reads.
import {operate, containerPath, place, nameOf} from "./api.js";
import {h, fill, moment, number, words, Room} from "./dom.js";

/** Milliseconds between two looks. */
const PAUSE = 3000;

class Sync extends Room {
    #list = h("div", {});
    #last = "";

    async show() {
        fill(this, h("h1", {}, "Sync"),
            h("p", {}, "The devices that asked for something since the server began, by the names that they give themselves; clients of "
                + "a user that give none count as one, and so do all commands of cloudkit. “Behind” is how many changes were made since a device got its last response: a device "
                + "that listens is 0 behind soon after each change. This page is “dashboard”."), this.#list);
        await this.#load();
        const timer = setInterval(() => {
            if (document.visibilityState === "visible") this.#load().catch(() => {});
        }, PAUSE);
        this.signal.addEventListener("abort", () => clearInterval(timer));
    }

    async #load() {
        const {devices} = await operate("GET", containerPath("devices"), undefined, this.signal);
        const shown = devices.filter(each => each.environment === place.environment);
        // What is as it was is left alone, with the focus in it.
        const text = JSON.stringify(shown);
        if (text === this.#last) return;
        this.#last = text;
        fill(this.#list, shown.length === 0 ? h("p", {}, "None has asked for anything yet.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Devices"}, h("table", {},
                h("thead", {}, h("tr", {}, ["Device", "User", "Seen", "Zone", "Behind", "Fetched"].map(name =>
                    h("th", {scope: "col"}, name)))),
                shown.map(device => h("tbody", {}, rows(device))))));
    }
}

/** A row for each zone that a device reads, or one that says that it reads none. */
function rows(device) {
    const span = Math.max(1, device.zones.length);
    const head = [h("th", {scope: "rowgroup", rowspan: span}, device.clientID ?? "without a name"),
        h("td", {rowspan: span}, nameOf(device.userRecordName)), h("td", {rowspan: span}, moment(device.lastSeen))];
    if (device.zones.length === 0) return h("tr", {}, head, h("td", {colspan: 3, class: "note"}, "reads no feed of changes"));
    return device.zones.map((zone, index) => h("tr", {}, index === 0 && head,
        h("td", {}, zone.database === "shared" ? words`${zone.zoneName} of ${nameOf(zone.ownerRecordName)}` : zone.zoneName),
        h("td", {class: zone.isExpired || zone.behind > 0 ? "number bad" : "number good"},
            zone.isExpired ? "begins anew: its token has expired" : number(zone.behind)),
        h("td", {}, moment(zone.lastFetch))));
}

customElements.define("ck-sync", Sync);
