// States of the container that can come back.
import {operate, containerPath, place, part, schema, nameOf, askForUser} from "./api.js";
import {h, fill, field, select, button, dialog, confirm, notify, problem, copy, moment, number, amount, words, Room} from "./dom.js";
import {ListSource} from "./grid.js";
import {exportZones, importZones, read} from "./archive.js";

/** Refused records that are named at once; the others on demand. */
const NAMED = 5;

class Snapshots extends Room {
    #list = h("div", {});
    /** Whether files are chosen that were not read yet, or read and not imported. */
    #isChosen = false;

    hasEdits() { return this.#isChosen || super.hasEdits(); }

    async show() {
        const name = h("input", {required: true, maxlength: 255});
        const form = h("form", {class: "choices", onsubmit: event => {
            event.preventDefault();
            this.attempt(async () => {
                if (!name.value.trim()) throw new Error("The name is blank; type one by which the snapshot is found again");
                const known = (await operate("GET", containerPath("snapshots"))).snapshots;
                if (known.some(each => each.name === name.value)
                    && !await confirm("Replace snapshot", words`There is a snapshot ${name.value}. What it keeps is lost; it will keep what the container holds now.`, "Replace snapshot")) return;
                await operate("PUT", containerPath(`snapshots/${part(name.value)}`));
                notify(words`${name.value} is kept`);
                name.value = "";
                await this.#load();
            }, form);
        }}, field("Name", name), h("p", {class: "actions"}, h("button", {class: "main"}, "Take a snapshot")));
        fill(this, h("h1", {}, "Snapshots"),
            h("p", {}, "A snapshot keeps what the container holds: records, zones, schemas, shares and subscriptions, of both "
                + "environments. Users and credentials are no part of it, so that clients go on."), form, this.#list,
            h("h2", {}, "Export and import"), this.#archive(),
            h("h2", {}, "Begin anew"), h("p", {class: "actions"},
                button("Empty the container", () => this.#reset(true), {class: "danger"}),
                button("Empty it, and delete the schema", () => this.#reset(false), {class: "danger"})));
        await this.#load();
    }

    async #load() {
        const {snapshots} = await operate("GET", containerPath("snapshots"), undefined, this.signal);
        fill(this.#list, snapshots.length === 0 ? h("p", {}, "There are none yet.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Snapshots"}, h("table", {},
                h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Name"), h("th", {scope: "col"}, "Taken"), h("td", {}))),
                h("tbody", {}, snapshots.map(each => h("tr", {}, h("th", {scope: "row"}, each.name),
                    h("td", {}, moment(each.created)), h("td", {class: "actions"},
                        button("Compare", () => this.#compare(each.name, snapshots), {"aria-label": `Compare ${each.name}`}),
                        button("Restore", () => this.#restore(each.name), {"aria-label": `Restore ${each.name}`}),
                        button("Delete", () => this.#remove(each.name), {class: "danger", "aria-label": `Delete ${each.name}`}))))))));
    }

    /** Takes the user's zones out to a file, and in from one. */
    #archive() {
        if (!place.user) return h("p", {}, askForUser("what is exported is what somebody has."));
        const file = h("input", {type: "file", required: true, multiple: true, onchange: () => { this.#isChosen = file.files.length > 0; }});
        const progress = h("p", {role: "status"});
        const refusals = h("div", {});
        const outcome = h("div", {}, progress, refusals);
        const told = count => { progress.textContent = amount(count, "record"); };
        const clear = () => { fill(progress); fill(refusals); };
        /** Runs one of both; nothing that was said before stays beside what is said then. */
        const run = action => {
            clear();
            return this.attempt(() => action().catch(error => { clear(); throw error; }), outcome);
        };
        const form = h("form", {class: "choices", onsubmit: event => {
            event.preventDefault();
            run(async () => {
                const archive = await read([...file.files]).catch(error => { this.#isChosen = false; throw error; });
                if (!await confirm("Import", [words`The records of the file are saved for ${nameOf(place.user)} in ${place.container}, ${place.environment}. `,
                    "A record of the same name gets the file's values, and keeps the fields that the file does not have. Take a snapshot before, "
                    + "to be able to go back."], "Import")) return;
                this.#isChosen = false;
                const {saved, sent, refused} = await importZones(archive, told, this.signal);
                await schema(true);
                const {shares, unlisted} = archive;
                fill(progress, `${amount(saved, "record")} ${isOrAre(saved)} imported, with ${amount(sent, "file")}`,
                    shares > 0 && `, ${number(shares)} ${shares === 1 ? "share was left out: invite its" : "shares were left out: invite their"} people again`,
                    refused.length > 0 && words`, ${number(refused.length)} ${refused.length === 1 ? "was" : "were"} refused: ${refused.slice(0, NAMED).join("; ")}`,
                    refused.length > NAMED && `; and ${number(refused.length - NAMED)} more`,
                    unlisted.length > 0 && words`. The export has no records of ${unlisted.join(", ")} in the default zone: their types had no index`);
                const all = refused.join("\n");
                fill(refusals, refused.length > NAMED && h("details", {}, h("summary", {}, `All ${number(refused.length)} that were refused`),
                    h("pre", {tabindex: "0", role: "region", "aria-label": "What was refused"}, all),
                    button("Copy", () => copy(all), {"aria-label": "Copy what was refused"})));
            });
        }}, field("File", file, "An export of this page; or what “cloudkit export” wrote, with its files of assets"),
        h("p", {class: "actions"}, h("button", {}, "Import")));
        const section = h("div", {}, h("p", {}, words`All zones of ${nameOf(place.user)}, with the files of assets, as one tar archive. `
            .concat("In it are the lines and the folder that “cloudkit export” writes, for “cloudkit import” and for this page: both save them again, as "
                + "whoever is chosen then, but for shares, whose people have to be invited again. “cloudkit backup” keeps all users and everything else.")),
        h("p", {class: "actions"}, button(["Export the zones of ", h("bdi", {}, nameOf(place.user))], () => run(async () => {
            const name = `${place.container}-${new Date().toISOString().slice(0, 10)}`;
            const {blob, count, unlisted} = await exportZones(name, told, this.signal);
            const url = URL.createObjectURL(blob);
            h("a", {href: url, download: `${name}.tar`}).click();
            setTimeout(() => URL.revokeObjectURL(url), 10_000);
            fill(progress, `${amount(count.records, "record")} ${isOrAre(count.records)} exported, with ${amount(count.assets, "file")}`,
                unlisted.length > 0 && words`. If the default zone has records of ${unlisted.join(", ")}, they are not among them: without an index `
                    .concat("QUERYABLE on ___recordID of their type nobody can list them. Make the index in the room Records, under “Filter and sort”, and export again."));
        }))), form, outcome);
        return section;
    }

    /** Shows what differs between a snapshot and another, or now. */
    #compare(name, snapshots) {
        const others = snapshots.filter(each => each.name !== name).map(each => [`=${each.name}`, each.name]);
        const later = select([["", "what is there now"], ...others], "", {onchange: () => show()});
        const outcome = h("div", {}), table = h("ck-grid", {label: "Differences"});
        dialog(words`From ${name} to`, field("To", later), outcome, table).classList.add("wide");
        const show = async () => {
            table.hidden = true;
            try {
                const query = later.value ? `?to=${part(later.value.slice(1))}` : "";
                const {differences, hasMore} = await operate("GET", containerPath(`snapshots/${part(name)}/differences${query}`), undefined, this.signal);
                const count = kind => number(differences.filter(each => each.kind === kind).length);
                fill(outcome, h("p", {role: "status"}, differences.length === 0 ? "Nothing differs."
                    : `${hasMore ? "The first of more: " : ""}${count("added")} added, ${count("changed")} changed, ${count("deleted")} deleted.`));
                table.hidden = differences.length === 0;
                table.show([
                    {label: "what", width: "6rem", text: each => each.kind, kind: each => ({added: "good", deleted: "bad"})[each.kind] ?? ""},
                    {label: "record", text: each => each.recordName ?? "the whole zone", kind: () => "name"},
                    {label: "type", text: each => each.recordType ?? ""}, {label: "zone", text: each => each.zoneName},
                    {label: "of", text: each => each.ownerRecordName ? nameOf(each.ownerRecordName) : "everybody: public"},
                    {label: "environment", text: each => each.environment},
                ], new ListSource(differences));
            } catch (error) {
                if (error.name !== "AbortError") fill(outcome, problem(error));
            }
        };
        show();
    }

    async #restore(name) {
        if (!await confirm("Restore", [words`The container ${place.container} becomes what it was when ${name} was taken, in both environments and for all `,
            "users. What was saved since then is lost unless another snapshot keeps it, and clients fetch everything again."], "Restore")) return;
        await this.attempt(async () => {
            await operate("POST", containerPath(`snapshots/${part(name)}/restore`));
            await schema(true);
            notify(words`${name} is restored`);
        });
    }

    async #remove(name) {
        if (!await confirm("Delete snapshot", words`The snapshot ${name} is deleted, and cannot be restored any more. The container stays as it is.`, "Delete snapshot")) return;
        await this.attempt(async () => {
            await operate("DELETE", containerPath(`snapshots/${part(name)}`));
            notify(words`${name} is deleted`);
            await this.#load();
        });
    }

    async #reset(keepsSchema) {
        if (!await confirm(keepsSchema ? "Empty the container" : "Empty the container, and delete its schema",
            [words`Every record and zone of ${place.container} is deleted, in both environments and for all users`,
                keepsSchema ? "; its schema stays. " : ", and with them every record type, field and index of its schema. ",
                "Snapshots, users and credentials stay."], "Empty it")) return;
        await this.attempt(async () => {
            await operate("POST", containerPath("reset"), {keepsSchema});
            await schema(true);
            notify("The container is empty");
        });
    }
}

const isOrAre = count => count === 1 ? "is" : "are";

customElements.define("ck-snapshots", Snapshots);
