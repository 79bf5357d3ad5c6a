// States of the container that can come back.
import {operate, containerPath, place, part, schema} from "./api.js";
import {h, fill, field, button, confirm, notify, moment, Room} from "./dom.js";

class Snapshots extends Room {
    #list = h("div", {});

    async show() {
        const name = h("input", {required: true, maxlength: 255});
        const form = h("form", {class: "choices", onsubmit: event => {
            event.preventDefault();
            this.attempt(async () => {
                const known = (await operate("GET", containerPath("snapshots"))).snapshots;
                if (known.some(each => each.name === name.value)
                    && !await confirm("Take it anew", `There is a snapshot ${name.value}, which would go.`, "Take it anew")) return;
                await operate("PUT", containerPath(`snapshots/${part(name.value)}`));
                notify(`${name.value} is kept`);
                name.value = "";
                await this.#load();
            }, form);
        }}, field("Name", name), h("p", {class: "actions"}, h("button", {class: "main"}, "Take a snapshot")));
        fill(this, h("h1", {}, "Snapshots"),
            h("p", {}, "A snapshot keeps what the container holds: records, zones, schemas, shares and subscriptions, of both "
                + "environments. Users and credentials are no part of it, so that clients go on."), form, this.#list,
            h("h2", {}, "Begin anew"), h("p", {class: "actions"},
                button("Empty the container", () => this.#reset(true), {class: "danger"}),
                button("Empty it, and forget the schema", () => this.#reset(false), {class: "danger"})));
        await this.#load();
    }

    async #load() {
        const {snapshots} = await operate("GET", containerPath("snapshots"), undefined, this.signal);
        fill(this.#list, snapshots.length === 0 ? h("p", {}, "There are none yet.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Snapshots"}, h("table", {},
                h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Name"), h("th", {scope: "col"}, "Taken"), h("td", {}))),
                h("tbody", {}, snapshots.map(each => h("tr", {}, h("th", {scope: "row"}, each.name),
                    h("td", {}, moment(each.created)), h("td", {class: "actions"},
                        button("Restore", () => this.#restore(each.name), {"aria-label": `Restore ${each.name}`}),
                        button("Delete", () => this.#remove(each.name), {class: "danger", "aria-label": `Delete ${each.name}`}))))))));
    }

    async #restore(name) {
        if (!await confirm("Restore", `The container ${place.container} becomes what it was when ${name} was taken. `
            + "What was saved since then is lost, and clients fetch everything again.", "Restore")) return;
        await this.attempt(async () => {
            await operate("POST", containerPath(`snapshots/${part(name)}/restore`));
            await schema(true);
            notify(`${name} is restored`);
        });
    }

    async #remove(name) {
        if (!await confirm("Delete snapshot", `The snapshot ${name} goes; the container stays as it is.`, "Delete snapshot")) return;
        await this.attempt(async () => {
            await operate("DELETE", containerPath(`snapshots/${part(name)}`));
            notify(`${name} is deleted`);
            await this.#load();
        });
    }

    async #reset(keepsSchema) {
        if (!await confirm("Empty the container", `Every record and zone of ${place.container} goes, in both environments. `
            + "Snapshots stay.", "Empty it")) return;
        await this.attempt(async () => {
            await operate("POST", containerPath("reset"), {keepsSchema});
            await schema(true);
            notify("The container is empty");
        });
    }
}

customElements.define("ck-snapshots", Snapshots);
