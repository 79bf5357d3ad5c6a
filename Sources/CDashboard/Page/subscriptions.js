// Who is told of what, and what they are told.
import {call, item, ensure, identifier, place, schema, ownAddress, send, bodyOf, textOf, operate, containerPath, feed, nameOf, askForUser} from "./api.js";
import {h, fill, field, select, button, confirm, notify, keepChoices, time, moment, amount, words, Room} from "./dom.js";

class Subscriptions extends Room {
    #list = h("div", {});
    #heard = h("ol", {class: "changes"});
    #listening = h("p", {class: "actions"});
    #form = h("form", {});
    #sent = h("ol", {class: "changes", reversed: true});
    #database = "private";

    async show() {
        fill(this, h("h1", {}, "Subscriptions"));
        if (!place.user) {
            this.append(h("p", {}, askForUser("subscriptions are somebody's.")));
            return;
        }
        this.append(field("Database", select(["private", "shared", "public"], this.#database, {onchange: event => {
            this.#database = event.target.value;
            this.attempt(async () => { await this.#load(); await this.#compose(); });
        }})), this.#list, h("h2", {}, "Subscribe"), this.#form, h("h2", {}, "Notifications"),
        h("p", {class: "note"}, "The page can listen as one more device of the user, and shows what that device is told."),
        this.#listening, this.#heard, h("h2", {}, "What was sent"),
        h("p", {class: "note"}, "The last notifications of all users of the container, the newest first."), this.#sent);
        fill(this.#listening, button("Listen", () => this.#listen(), {class: "main"}));
        await this.#load();
        await this.#compose();
        await this.#tellSent();
        feed.listen(this.signal, (entries, isNews) => {
            if (isNews && entries.some(each => /modify|accept|copy/.test(each.endpoint))) this.#tellSent().catch(() => {});
        });
    }

    /** Shows the journal of notifications; those that are shown already stay as they are. */
    async #tellSent() {
        const {pushes} = await operate("GET", containerPath("pushes"), undefined, this.signal);
        const shown = Number(this.#sent.firstElementChild?.dataset.number ?? 0);
        if ((pushes.at(-1)?.number ?? 0) < shown) fill(this.#sent);
        const last = Number(this.#sent.firstElementChild?.dataset.number ?? 0);
        for (const each of pushes) {
            if (each.number <= last) continue;
            this.#sent.prepend(h("li", {"data-number": each.number}, words`${moment(each.time)} ${nameOf(each.userRecordName)}, ${each.environment}, by `,
                h("strong", {}, each.subscriptionID ?? "a subscription"),
                h("span", {class: each.devices === 0 ? "bad" : "note"}, each.devices === 0 ? ": no device listens" : ` to ${amount(each.devices, "device")}`),
                each.payload && h("details", {}, h("summary", {}, `Payload ${each.number}`),
                    h("pre", {tabindex: "0", role: "region", "aria-label": `Payload ${each.number}`}, each.payload))));
        }
        while (this.#sent.childElementCount > 200) this.#sent.lastElementChild.remove();
    }

    async #test(subscriptionID) {
        await this.attempt(async () => {
            const {devices} = await operate("POST", containerPath("test-pushes"),
                {environment: place.environment, userRecordName: place.user, database: this.#database, subscriptionID})
                .catch(error => { this.#load().catch(() => {}); throw error; });
            notify(devices === 0 ? "No device listens; “Listen” below makes this page one" : `Sent to ${amount(devices, "device")}`);
            await this.#tellSent();
        });
    }

    async #load() {
        const {subscriptions} = await call(this.#database, "subscriptions/list", undefined, {signal: this.signal});
        fill(this.#list, subscriptions.length === 0 ? h("p", {}, "There are none in this database.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Subscriptions"}, h("table", {},
                h("thead", {}, h("tr", {}, ["Identifier", "To what", "When", "Alert"].map(text => h("th", {scope: "col"}, text)), h("td", {}))),
                h("tbody", {}, subscriptions.map(each => h("tr", {}, h("th", {scope: "row"}, each.subscriptionID),
                    h("td", {}, subject(each)), h("td", {}, [...each.firesOn ?? [], each.firesOnce && "once"].filter(Boolean).join(", ")),
                    h("td", {}, each.notificationInfo?.alertBody ?? ""),
                    h("td", {class: "actions"}, button("Send a test", () => this.#test(each.subscriptionID), {"aria-label": `Send a test of ${each.subscriptionID}`}),
                        button("Delete", () => this.#remove(each.subscriptionID),
                            {class: "danger", "aria-label": `Delete ${each.subscriptionID}`}))))))));
    }

    async #compose() {
        // Somebody may have saved records of another type since it was asked for.
        const {outline} = await schema(true);
        const {zones} = await call(this.#database, "zones/list", undefined, {signal: this.signal});
        const names = zones.map(each => each.zoneID.zoneName);
        const kinds = {private: ["zone", "query", "database"], shared: ["database"], public: ["query"]}[this.#database];
        const kind = select(kinds, kinds[0]);
        const name = h("input", {maxlength: 255});
        const zone = select(names.filter(each => each !== "_defaultZone" || kinds.includes("query")), names[0]);
        const type = select(outline.recordTypes.map(each => each.name), "");
        const alert = h("input", {});
        // The same each time that it is tried.
        let ownName = identifier();
        const own = [field("Zone", zone), field("Record type", type)];
        const draw = () => { own[0].hidden = kind.value !== "zone"; own[1].hidden = kind.value !== "query"; };
        kind.addEventListener("change", draw);
        draw();
        this.#form.onsubmit = event => {
            event.preventDefault();
            this.attempt(async () => {
                const subscription = {
                    subscriptionID: name.value || ownName, subscriptionType: kind.value,
                    notificationInfo: alert.value ? {alertBody: alert.value} : {shouldSendContentAvailable: true},
                    ...(kind.value === "zone" ? {zoneID: zones.find(each => each.zoneID.zoneName === zone.value).zoneID} : {}),
                    ...(kind.value === "query" ? {query: {recordType: type.value}, firesOn: ["create", "update", "delete"]} : {}),
                };
                // The service returns the subscription that there is, whatever the new one would be.
                if (name.value && await this.#has(name.value)) {
                    throw new Error(`There is a subscription ${name.value} already: delete it first, or choose another identifier`);
                }
                await this.#modify("create", subscription);
                notify(words`${subscription.subscriptionID} is subscribed`);
                ownName = identifier();
                name.value = alert.value = "";
                keepChoices(this.#form);
                await this.#load();
            }, this.#form);
        };
        fill(this.#form, h("div", {class: "choices"}, field("To", kind), own, field("Identifier", name, "Made up when empty"),
            field("Alert", alert, "Silent when empty"), h("p", {class: "actions"}, h("button", {class: "main"}, "Subscribe"))));
    }

    async #modify(operationType, subscription) {
        await ensure(async () => {
            const response = await call(this.#database, "subscriptions/modify", {operations: [{operationType, subscription}]});
            item(response.subscriptions[0]);
        }, async () => await this.#has(subscription.subscriptionID) === (operationType === "create"));
    }

    async #has(subscriptionID) {
        const {subscriptions} = await call(this.#database, "subscriptions/list");
        return subscriptions.some(each => each.subscriptionID === subscriptionID);
    }

    async #remove(subscriptionID) {
        if (!await confirm("Delete subscription", words`The subscription ${subscriptionID} of ${nameOf(place.user)} is deleted: no device of this user is notified because of it any more.`, "Delete subscription")) return;
        await this.attempt(async () => {
            await this.#modify("delete", {subscriptionID});
            notify(words`${subscriptionID} is deleted`);
            await this.#load();
        });
    }

    /** Waits for notifications as one more device, as long as the room is open. */
    async #listen() {
        await this.attempt(async () => {
            const token = await call(null, "tokens/create",
                {apnsEnvironment: place.environment, clientId: identifier()}, {signal: this.signal});
            fill(this.#listening, h("span", {role: "status"}, "Listening…"));
            while (!this.signal.aborted) {
                const response = await send(ownAddress(token.webcourierURL), {signal: this.signal});
                if (!response.ok) await bodyOf(response);
                const text = await textOf(response);
                if (!text) continue;
                this.#heard.prepend(h("li", {class: "news"}, time(Date.now()),
                    h("pre", {tabindex: "0", role: "region", "aria-label": "Notification"}, text)));
                while (this.#heard.childElementCount > 50) this.#heard.lastElementChild.remove();
            }
        });
        if (!this.signal.aborted) fill(this.#listening, button("Listen", () => this.#listen(), {class: "main"}));
    }
}

/** What a subscription is to. */
function subject({subscriptionType, zoneID, query}) {
    const place = zoneID ? words` in ${zoneID.zoneName}` : "";
    return query?.recordType ? [words`records of ${query.recordType}`, place] : subscriptionType === "zone" ? words`zone ${zoneID?.zoneName}`
        : [subscriptionType, place];
}

customElements.define("ck-subscriptions", Subscriptions);
