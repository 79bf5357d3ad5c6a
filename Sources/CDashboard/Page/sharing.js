// What the chosen user shares and takes part in: who may do what, and what each of them sees.
import {call, item, modify, identifier, place, people, nameOf, askForUser} from "./api.js";
import {h, fill, field, select, button, dialog, confirm, notify, keepChoices, copy, amount, words, message, Room} from "./dom.js";
import {ListSource} from "./grid.js";
import {address} from "./records.js";

const SHARE = "cloudkit.share", WHOLE = "cloudkit.zoneshare";
/** Pages of a zone's feed that are looked through for shares before somebody asks for more. */
const PAGES = 10;
const permissions = [["READ_ONLY", "may read"], ["READ_WRITE", "may read and write"], ["NONE", "nothing"]];

class Sharing extends Room {
    #list = h("div", {});
    #message = h("div", {});
    #form = h("form", {});
    #zones = "";

    async show() {
        fill(this, h("h1", {}, "Sharing"), this.#message);
        if (!place.user) {
            this.#message.append(h("p", {}, askForUser("shares are somebody's, and only people take part in them.")));
            return;
        }
        const link = h("input", {required: true});
        const accept = h("form", {class: "choices", onsubmit: event => {
            event.preventDefault();
            // iCloud's links end with the title.
            this.#accept(link.value.trim().split(/[?#]/)[0].split("/").at(-1), place.user, accept, () => { link.value = ""; });
        }}, field("Link", link, "Or its last part"), h("p", {class: "actions"}, h("button", {}, words`Accept as ${nameOf(place.user)}`)));
        this.append(this.#list, h("h2", {}, "Share something"), this.#form, h("h2", {}, "Accept an invitation"), accept);
        await this.#load();
    }

    async #load() {
        const sections = [];
        for (const database of ["private", "shared"]) {
            const {zones} = await call(database, "zones/list", undefined, {signal: this.signal});
            const custom = zones.map(each => each.zoneID).filter(each => each.zoneName !== "_defaultZone");
            if (database === "private") this.#compose(custom);
            const shares = h("div", {class: "shares"});
            let found = 0;
            for (const zoneID of custom) found += await this.#find(database, zoneID, undefined, shares);
            sections.push(h("h2", {}, database === "private" ? words`What ${nameOf(place.user)} shares` : words`What others share with ${nameOf(place.user)}`),
                found === 0 && h("p", {}, "Nothing."), shares);
        }
        fill(this.#list, sections);
    }

    /** Does something, and shows what there is afterwards, before saying that it is done. */
    async #do(action, said, where = this.#message) {
        await this.attempt(async () => {
            try {
                await action();
            } catch (error) {
                this.#load().catch(() => {});
                throw error.code !== "CONFLICT" ? error
                    : new Error("Somebody else has changed this share meanwhile. It is shown as it is now; look at it, and try again");
            }
            await this.#load();
            notify(said);
        }, where);
    }

    /** Shows the shares of a zone, as its feed of changes has them; returns how many. */
    async #find(database, zoneID, syncToken, list) {
        let count = 0;
        for (let page = 0; page < PAGES; page++) {
            const {zones: [response]} = await call(database, "changes/zone",
                {zones: [{zoneID, syncToken, desiredRecordTypes: [SHARE]}]}, {signal: this.signal});
            const shares = item(response).records.filter(each => !each.deleted && each.recordType === SHARE);
            list.append(...shares.map(each => this.#share(database, zoneID, each)));
            count += shares.length;
            ({syncToken} = response);
            if (!response.moreComing) return count;
        }
        const more = h("p", {class: "actions"}, h("span", {}, words`${zoneID.zoneName} is large; not all of it was looked at.`),
            button("Look further", () => this.attempt(async () => { more.remove(); await this.#find(database, zoneID, syncToken, list); })));
        list.append(more);
        return count + 1;
    }

    #share(database, zoneID, share) {
        const isMine = database === "private";
        const owner = share.owner?.userIdentity?.userRecordName;
        const where = {database, zone: zoneID.zoneName, owner: isMine ? "" : zoneID.ownerRecordName, type: ""};
        const title = share.fields?.["cloudkit.title"]?.value;
        const isWhole = share.recordName === WHOLE;
        const name = title ?? (isWhole ? `the zone ${zoneID.zoneName}` : share.recordName);
        const guests = [...people].filter(([user]) => user !== owner);
        const as = select(guests, guests[0]?.[0], {"aria-label": `As whom to accept ${name}`});
        const url = `${location.origin}/share/${share.shortGUID}`;
        const root = h("span", {});
        if (!isWhole) this.#findRoot(share, root, where);
        return h("section", {class: "share"}, h("h3", {}, name),
            h("dl", {}, h("dt", {}, "Of"), h("dd", {}, isWhole ? words`all of the zone ${zoneID.zoneName}` : root,
                isMine ? "" : words` in ${zoneID.zoneName} of ${nameOf(owner)}`),
            h("dt", {}, "Link"), h("dd", {}, h("code", {class: "token"}, url), " ",
                button("Copy", () => copy(url), {"aria-label": `Copy the link of ${name}`})),
            h("dt", {}, "Everyone"), h("dd", {}, isMine
                ? select(permissions, share.publicPermission, {"aria-label": `What everyone may do with ${name}`, onchange: event =>
                    this.#open(zoneID, share, name, event.target)})
                : say(share.publicPermission))),
            this.#participants(database, zoneID, share, name, isMine),
            h("p", {class: "actions"}, guests.length > 0 && [as, button("Accept", () => this.#accept(share.shortGUID, as.value),
                {"aria-label": `Accept ${name}`})],
            isMine && guests.length > 0 && button("Invite", () => this.#invite(zoneID, share, name, guests), {"aria-label": `Invite to ${name}`}),
            button(isMine ? "Stop sharing" : "Leave", () => this.#remove(database, zoneID, share, name),
                {class: "danger", "aria-label": `${isMine ? "Stop sharing" : "Leave"} ${name}`})));
    }

    /** The record that is the top of what is shared. */
    async #findRoot(share, span, where) {
        try {
            const {results: [found]} = await call("public", "records/resolve",
                {shortGUIDs: [{value: share.shortGUID}]}, {signal: this.signal});
            const name = item(found).rootRecordName;
            fill(span, "the record ", h("a", {href: address({...where, record: name})}, name), " and what is below it");
        } catch (error) {
            if (error.name !== "AbortError") span.textContent = message(error);
        }
    }

    #participants(database, zoneID, share, name, isMine) {
        return h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Who takes part in ${name}`}, h("table", {},
            h("thead", {}, h("tr", {}, ["Who", "Role", "May", "State"].map(text => h("th", {scope: "col"}, text)), h("td", {}))),
            h("tbody", {}, (share.participants ?? []).map(each => {
                const user = each.userIdentity?.userRecordName, who = nameOfParticipant(each);
                const isGuest = isMine && each.type !== "OWNER";
                return h("tr", {}, h("th", {scope: "row"}, who), h("td", {}, roles[each.type] ?? each.type ?? ""),
                    h("td", {}, isGuest && each.type !== "PUBLIC_USER"
                        ? select(permissions.slice(0, 2), each.permission, {"aria-label": `What ${who} may do with ${name}`, onchange: event =>
                            this.#change(zoneID, share, each, {permission: event.target.value}, words`${who} ${say(event.target.value)} now`)})
                        : each.type === "OWNER" ? "everything" : say(each.permission)),
                    h("td", {}, (each.acceptanceStatus ?? "").toLowerCase()),
                    h("td", {class: "actions"}, people.has(user) && button("What is seen", () => this.#look(zoneID, share, user, who),
                        {"aria-label": `What ${who} sees of ${name}`}),
                    isGuest && button("Remove", () => this.#expel(zoneID, share, each, who, name),
                        {class: "danger", "aria-label": `Remove ${who} from ${name}`})));
            }))));
    }

    /** Takes a participant out, when the person is sure. */
    async #expel(zoneID, share, participant, who, name) {
        if (!await confirm("Remove participant", words`${who} loses access to ${name}, and gets it again only by another invitation.`, "Remove participant")) return;
        await this.#change(zoneID, share, participant, null, words`${who} takes no part any more`);
    }

    /** Changes a participant, or takes one out. */
    #change(zoneID, share, participant, change, said) {
        const participants = share.participants.flatMap(each => each !== participant ? [each] : change ? [{...each, ...change}] : []);
        return this.#save(zoneID, share, {participants}, said);
    }

    /** Changes what everyone with the link may do, once it is sure who loses access. */
    async #open(zoneID, share, name, menu) {
        const publicPermission = menu.value;
        if (publicPermission === "NONE" && !await confirm("Close the link", words`Whoever came through the link of ${name} loses access, and so does everyone `
            .concat("who only has it. Who was invited stays."), "Close the link")) {
            menu.value = share.publicPermission;
            return;
        }
        await this.#save(zoneID, share, {publicPermission}, words`Everyone's part in ${name} is changed`);
    }

    #save(zoneID, share, change, said) {
        const {recordName, recordType, recordChangeTag, publicPermission, participants} = share;
        const record = {recordName, recordType, recordChangeTag, publicPermission, participants, ...change};
        return this.#do(() => modify("private", zoneID, "update", record), said);
    }

    #invite(zoneID, share, name, guests) {
        const user = select(guests, guests[0][0]), permission = select(permissions.slice(0, 2), "READ_WRITE");
        const element = dialog(words`Invite to ${name}`, h("form", {onsubmit: event => {
            event.preventDefault();
            element.close();
            const participant = {type: "USER", permission: permission.value, userIdentity: {lookupInfo: {userRecordName: user.value}}};
            this.#save(zoneID, share, {participants: [...share.participants, participant]}, words`${nameOf(user.value)} is invited`);
        }}, field("Who", user), field("What", permission), h("footer", {}, h("button", {class: "main"}, "Invite"))));
    }

    #accept(shortGUID, user, where, done = () => {}) {
        return this.#do(async () => {
            const {results: [response]} = await call("public", "records/accept", {shortGUIDs: [{value: shortGUID}]}, {user});
            item(response);
            done();
        }, words`${nameOf(user)} has accepted`, where);
    }

    async #remove(database, zoneID, share, name) {
        const isMine = database === "private";
        if (!await confirm(isMine ? "Stop sharing" : "Leave the share", isMine
            ? words`${name} is shared with nobody any more: participants lose access, and its link leads nowhere. No record is deleted. Shared again, it has the `
                .concat("same link, which lets in whoever is invited then, or everyone if you let them.")
            : words`${nameOf(place.user)} loses access to ${name}, and gets it again only by another invitation, or by the link where it lets everyone in.`,
        isMine ? "Stop sharing" : "Leave")) return;
        await this.#do(() => modify(database, zoneID, "forceDelete", {recordName: share.recordName, recordType: SHARE}),
            isMine ? words`${name} is not shared any more` : words`${nameOf(place.user)} has left`);
    }

    /** Shows the records of the zone that a participant sees, asked for as that user. */
    async #look(zoneID, share, user, who) {
        await this.attempt(async () => {
            const isOwner = user === share.owner?.userIdentity?.userRecordName;
            const database = isOwner ? "private" : "shared";
            const owner = zoneID.ownerRecordName ?? share.owner.userIdentity.userRecordName;
            const zone = {zoneName: zoneID.zoneName, ...(isOwner ? {} : {ownerRecordName: owner})};
            const records = [];
            let syncToken, isMore = true;
            for (let page = 0; isMore && page < PAGES; page++) {
                const {zones: [response]} = await call(database, "changes/zone",
                    {zones: [{zoneID: zone, syncToken, desiredKeys: []}]}, {signal: this.signal, user});
                // Who has not accepted yet sees no such zone.
                if (response.serverErrorCode === "ZONE_NOT_FOUND") break;
                records.push(...item(response).records.filter(each => !each.deleted));
                ({syncToken, moreComing: isMore} = response);
            }
            const table = h("ck-grid", {label: `What ${who} sees`});
            dialog(words`What ${who} sees of ${zoneID.zoneName}`, h("p", {}, records.length === 0 ? "Nothing."
                : `${isMore && records.length >= 200 ? "The first " : ""}${amount(records.length, "record")}, by all shares of the zone.`),
            table).classList.add("wide");
            table.hidden = records.length === 0;
            table.show([{label: "recordName", text: each => each.recordName, kind: () => "name"}, {label: "type", text: each => each.recordType},
                {label: "below", text: each => each.parent?.recordName ?? ""}], new ListSource(records));
        }, this.#message);
    }

    /** Lets the user share a record or a zone; what is typed stays as long as the zones do. */
    #compose(zones) {
        const names = JSON.stringify(zones.map(each => each.zoneName));
        if (names === this.#zones) return;
        this.#zones = names;
        if (zones.length === 0) { fill(this.#form, h("p", {}, "There is no zone of one's own, which a share needs.")); return; }
        const zone = select(zones.map(each => each.zoneName), zones[0].zoneName);
        const record = h("input", {maxlength: 255}), title = h("input", {maxlength: 255});
        const everyone = select(permissions, "NONE");
        this.#form.onsubmit = event => {
            event.preventDefault();
            const zoneID = zones.find(each => each.zoneName === zone.value), root = record.value.trim();
            const share = {recordType: SHARE, recordName: root ? identifier() : WHOLE, publicPermission: everyone.value,
                ...(root ? {forRecord: {recordName: root}} : {}),
                fields: title.value ? {"cloudkit.title": {value: title.value, type: "STRING"}} : {}};
            this.#do(async () => {
                await modify("private", zoneID, "create", share);
                record.value = title.value = "";
                keepChoices(this.#form);
            }, words`${title.value || root || `The zone ${zone.value}`} is shared`, this.#form);
        };
        fill(this.#form, h("div", {class: "choices"}, field("Zone", zone), field("Record", record, "The whole zone when empty"),
            field("Title", title), field("Everyone with the link", everyone), h("p", {class: "actions"}, h("button", {class: "main"}, "Share"))));
    }
}

const roles = {OWNER: "owner", ADMINISTRATOR: "administrator", USER: "invited", PUBLIC_USER: "came through the link"};

const say = permission => Object.fromEntries(permissions)[permission] ?? permission ?? "";

function nameOfParticipant({userIdentity: identity}) {
    const {givenName, familyName} = identity?.nameComponents ?? {};
    const {emailAddress, phoneNumber} = identity?.lookupInfo ?? {};
    return people.get(identity?.userRecordName) ?? ([givenName, familyName].filter(Boolean).join(" ")
        || emailAddress || phoneNumber || identity?.userRecordName || "nobody known");
}

customElements.define("ck-sharing", Sharing);
