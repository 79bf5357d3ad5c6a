// What goes wrong on purpose: the rules in force, how often they took effect, and the clock.
import {operate, containerPath, place, schema, feed, people, nameOf, stringify, statusOf, acting, askForUser} from "./api.js";
import {h, fill, refill, field, select, button, confirm, notify, time, moment, plural, amount, words, Room} from "./dom.js";

/** The faults with what each of them takes. */
const kinds = {
    error: ["Refuse the request", ["code", "reason", "retryAfter"]],
    itemError: ["Refuse single records", ["code", "item", "reason"]],
    nativeError: ["Refuse the request, with a code of CKError", ["code", "reason", "retryAfter"]],
    nativeItemError: ["Refuse single records, with a code of CKError", ["code", "item", "reason"]],
    lostResponse: ["Carry it out, and lose the response", []],
    resetConnection: ["Reset the connection", []],
    cutResponse: ["Cut the response", ["bytes"]],
    delay: ["Respond later", ["milliseconds"]],
    slowResponse: ["Respond slowly", ["bytesPerSecond"]],
    expiredWebToken: ["Expire the caller's token", []],
    expiredChangeTokens: ["Expire all change tokens", []],
    lostNotification: ["Lose a notification", []],
    staleTags: ["Change the records first, as another device", []],
    throttle: ["Throttle", ["burst", "perSecond"]],
};

const codes = [
    "ACCESS_DENIED", "ATOMIC_ERROR", "AUTHENTICATION_FAILED", "AUTHENTICATION_REQUIRED", "BAD_REQUEST",
    "CHANGE_TOKEN_EXPIRED", "CONFLICT", "EXISTS", "INTERNAL_ERROR", "NOT_FOUND", "QUOTA_EXCEEDED", "THROTTLED",
    "TRY_AGAIN_LATER", "UNIQUE_FIELD_ERROR", "VALIDATING_REFERENCE_ERROR", "ZONE_BUSY", "ZONE_NOT_FOUND",
];

/** The names that Swift has for the codes of CKError. */
const nativeCodes = [
    "internalError", "partialFailure", "networkUnavailable", "networkFailure", "badContainer", "serviceUnavailable",
    "requestRateLimited", "missingEntitlement", "notAuthenticated", "permissionFailure", "unknownItem",
    "invalidArguments", "resultsTruncated", "serverRecordChanged", "serverRejectedRequest", "assetFileNotFound",
    "assetFileModified", "incompatibleVersion", "constraintViolation", "operationCancelled", "changeTokenExpired",
    "batchRequestFailed", "zoneBusy", "badDatabase", "quotaExceeded", "zoneNotFound", "limitExceeded",
    "userDeletedZone", "tooManyParticipants", "alreadyShared", "referenceViolation", "managedAccountRestricted",
    "participantMayNeedVerification", "serverResponseLost", "assetNotAvailable", "accountTemporarilyUnavailable",
    "participantAlreadyInvited",
];

const operations = [
    "records/modify", "records/lookup", "records/query", "records/*", "zones/list", "zones/modify", "changes/zone",
    "changes/database", "subscriptions/modify", "users/caller", "assets/upload", "assets/send", "assets/fetch", "push/wait",
];

const labels = {
    code: "Code", reason: "Reason", retryAfter: "Retry after, seconds", item: "Item, counted from 0", bytes: "Bytes",
    milliseconds: "Milliseconds", bytesPerSecond: "Bytes a second", burst: "Items at once", perSecond: "Items a second",
};
const usual = {bytes: 100, milliseconds: 2000, bytesPerSecond: 1000, burst: 20, perSecond: 1};
const numbers = ["retryAfter", "item", "bytes", "milliseconds", "bytesPerSecond", "burst", "perSecond"];

/** What is made with one press, with what it does in words. */
const profiles = [
    ["The next save fails", "one request that saves or deletes records is refused with ZONE_BUSY; sent again, it is carried out",
        [{fault: "error", code: "ZONE_BUSY", retryAfter: 1, operation: "records/modify", times: 1}]],
    ["Slow network", "each response comes 1.5 seconds later, at 4 kB a second",
        [{fault: "delay", milliseconds: 1500}, {fault: "slowResponse", bytesPerSecond: 4000}]],
    ["Bad network", "one response in ten is lost after the request was carried out, and one connection in ten is reset before",
        [{fault: "lostResponse", probability: 0.1}, {fault: "resetConnection", probability: 0.1}]],
    ["Throttled like iCloud in 2026", "who changes or asks for too many items waits, as iCloud was observed to demand",
        [{fault: "throttle", profile: "apple-2026"}]],
    ["Throttled strictly", "the same, with much less allowed", [{fault: "throttle", profile: "strict"}]],
    ["Out of quota", "every save is refused with QUOTA_EXCEEDED", [{fault: "error", code: "QUOTA_EXCEEDED", operation: "records/modify"}]],
    ["Token expires", "the web auth token of the next request expires, so that its user has to sign in again", [{fault: "expiredWebToken", times: 1}]],
    ["Change tokens expire", "with the next request all change tokens expire, so that devices fetch everything again",
        [{fault: "expiredChangeTokens", times: 1}]],
    ["Another device is faster", "the records of the next save are changed just before it, so that it meets a conflict",
        [{fault: "staleTags", operation: "records/modify", times: 1}]],
];

/** Milliseconds between two looks at the counts, which requests move that no fault befell, and rules that others make. */
const PAUSE = 2000;

class Faults extends Room {
    #rules = h("div", {});
    #form = h("form", {});
    #fired = h("ol", {class: "fired"});
    #plan = {rules: []};
    #last = "";
    #firings = [];
    /** Whether a fault is being composed that is not made yet. */
    #isComposing = false;

    hasEdits() { return this.#isComposing; }

    async show() {
        fill(this, h("h1", {}, "Faults"),
            h("h2", {}, "In force"), this.#rules,
            h("h2", {}, "Ready-made"), h("ul", {class: "profiles"}, profiles.map(([name, what, rules]) =>
                h("li", {}, button(name, () => this.#add(rules)), " ", h("span", {class: "note"}, what)))),
            h("h2", {}, "Compose one"), this.#form,
            h("h2", {}, "Took effect"), this.#fired,
            h("h2", {}, "At once"), this.#atOnce());
        await this.#load();
        await this.#compose();
        feed.listen(this.signal, entries => {
            const hit = entries.filter(entry => entry.faults.length > 0);
            this.#firings = [...hit.reverse(), ...this.#firings].slice(0, 20);
            fill(this.#fired, this.#firings.length === 0 && h("li", {}, "No fault took effect yet."),
                this.#firings.map(entry => h("li", {}, `${time(entry.time)} ${plural(entry.faults.length, "rule")} ${entry.faults.map(each => each + 1).join(", ")}: `,
                    words`${entry.method} ${entry.endpoint}: ${statusOf(entry)}`, entry.problems[0] && ` ${entry.problems[0].code}`)));
            if (this.#plan.rules.length > 0) this.#load().catch(() => {});
        });
        const timer = setInterval(() => {
            if (document.visibilityState === "visible") this.#load().catch(() => {});
        }, PAUSE);
        this.signal.addEventListener("abort", () => clearInterval(timer));
    }

    async #load() { this.#draw(await operate("GET", "faults", undefined, this.signal)); }

    #draw({plan, counts}) {
        // What is as it was is left alone, with the focus in it.
        const text = stringify([plan, counts]);
        if (text === this.#last) return;
        this.#last = text;
        this.#plan = plan ?? {rules: []};
        refill(this.#rules, this.#plan.rules.length === 0 ? h("p", {}, "None: every request gets the response that it should.")
            : h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Rules in force"},
                h("table", {}, h("thead", {}, h("tr", {}, ["Rule", "Fault", "For", "Matched", "Took effect", ""]
                    .map(text => text ? h("th", {scope: "col"}, text) : h("td", {})))),
                h("tbody", {}, this.#plan.rules.map((rule, index) => h("tr", {}, h("th", {scope: "row"}, String(index + 1)),
                    h("td", {}, describe(rule)), h("td", {}, reach(rule)),
                    h("td", {class: "number"}, String(counts[index]?.fitting ?? 0)),
                    h("td", {class: "number"}, String(counts[index]?.taken ?? 0)),
                    h("td", {}, button("Remove", () => this.#change("DELETE", `faults/${index + 1}`),
                        {"aria-label": `Remove rule ${index + 1}`}))))))),
        this.#plan.rules.length > 0 && h("p", {class: "actions"}, button("Remove all", () => this.#change("DELETE", "faults"))));
    }

    #add(rules) { return this.#change("POST", "faults", {rules}); }

    /** Adds rules or removes some; the others go on counting. */
    async #change(method, path, plan) {
        return this.attempt(async () => {
            this.#draw(await operate(method, path, plan));
            const {rules} = this.#plan;
            notify(rules.length === 0 ? "No faults are in force" : `${amount(rules.length, "rule")} ${rules.length === 1 ? "is" : "are"} in force`);
            return true;
        }, this.#rules);
    }

    async #compose() {
        // Somebody may have saved records of another type since it was asked for.
        const {outline} = await schema(true);
        const kind = select(Object.entries(kinds).map(([name, [text]]) => [name, text]), "error");
        const own = h("div", {class: "choices"});
        const inputs = new Map();
        const common = {
            operation: select([["", "Any"], ...operations], "records/modify"),
            recordType: select([["", "Any"], ...outline.recordTypes.map(each => each.name)], ""),
            zone: h("input", {}), user: select([["", "Anybody"], ...people], ""),
            probability: h("input", {type: "number", min: 0, max: 1, step: "any"}),
            times: h("input", {type: "number", min: 1, step: 1}), call: h("input", {type: "number", min: 1, step: 1}),
        };
        const draw = () => {
            inputs.clear();
            fill(own, kinds[kind.value][1].map(name => {
                const input = name === "code" ? select(...kind.value.startsWith("native") ? [nativeCodes, "zoneBusy"] : [codes, "ZONE_BUSY"])
                    : h("input", numbers.includes(name) ? {type: "number", min: 0, step: "any", value: usual[name] ?? "",
                        required: name in usual} : {});
                inputs.set(name, input);
                return field(labels[name], input);
            }));
        };
        kind.addEventListener("change", draw);
        draw();
        for (const each of ["input", "change"]) this.#form.addEventListener(each, () => { this.#isComposing = true; });
        this.#form.addEventListener("submit", async event => {
            event.preventDefault();
            const rule = {fault: kind.value};
            for (const [name, input] of [...inputs, ...Object.entries(common)]) {
                if (input.value === "") continue;
                rule[name] = input.type === "number" ? Number(input.value) : input.value;
            }
            if (!await this.#add([rule])) return;
            this.#isComposing = false;
            this.#rules.scrollIntoView({block: "nearest"});
        });
        fill(this.#form, h("div", {class: "choices"}, field("What goes wrong", kind)), own,
            h("div", {class: "choices"}, field("Operation", common.operation), field("Record type", common.recordType),
                field("Zone", common.zone), field("User", common.user),
                field("Chance", common.probability, "above 0, at most 1; empty for always"),
                field("Times", common.times, "at most; empty for no end"), field("Only the call", common.call, "counted from 1")),
            h("p", {class: "actions"}, h("button", {class: "main"}, "Let it happen")));
    }

    /** What happens when it is asked for, and not to a request. */
    #atOnce() {
        const clock = h("p", {class: "note"});
        const tell = async () => {
            const {milliseconds, canBeMoved} = await operate("GET", "clock", undefined, this.signal);
            fill(clock, `The server's time is ${moment(milliseconds)}. `, canBeMoved
                ? [["an hour", 3600], ["a day", 86_400], ["30 days", 2_592_000]].map(([text, advanceSeconds]) =>
                    [button(`Move it by ${text}`, () => this.attempt(async () => {
                        await operate("POST", "clock", {advanceSeconds});
                        await tell();
                    })), " "])
                : acting.isAllowed ? "Start the server with --virtual-clock to move it." : "It moves only where no other machine reaches the server.");
        };
        tell().catch(() => {});
        return h("div", {}, clock, h("p", {class: "actions"},
            button("Expire all change tokens", () => this.attempt(async () => {
                if (!await confirm("Expire change tokens", words`Every device of every user of ${place.container} fetches everything again, in both environments.`,
                    "Expire change tokens")) return;
                await operate("POST", containerPath("expire-change-tokens"));
                notify("Clients fetch everything again");
            })),
            button("Purge the user's zones", () => this.#purge("PURGED")),
            button("Reset the user's encrypted data", () => this.#purge("ENCRYPTED_DATA_RESET"))));
    }

    async #purge(reason) {
        await this.attempt(async () => {
            if (!place.user) throw new Error(askForUser("that user's zones are deleted"));
            const why = reason === "PURGED" ? "Devices are notified that the user deleted the app's data in the settings."
                : "Devices are notified that the user reset the encryption keys, and upload again what they have.";
            if (!await confirm("Delete zones", [words`All zones of ${nameOf(place.user)} in ${place.container}, ${place.environment}, but the default one `,
                "are deleted with their records. ", why, " Only a snapshot brings them back."], "Delete zones")) return;
            await operate("POST", containerPath("delete-zones"),
                {userRecordName: place.user, reason, environment: place.environment});
            notify("The zones are deleted");
        });
    }
}

/** Parts of a sentence with commas between them. */
const list = parts => parts.filter(Boolean).flatMap((part, index) => index > 0 ? [", ", part] : [part]);

function describe(rule) {
    const parts = [...kinds[rule.fault]?.[1] ?? ["code"], "profile"].filter(name => rule[name] !== undefined);
    return list([kinds[rule.fault]?.[0] ?? rule.fault, ...parts.map(name => words`${name} ${rule[name]}`)]);
}

function reach(rule) {
    return list([rule.operation ?? "any operation", rule.recordType && words`${rule.recordType}`, rule.zone && words`zone ${rule.zone}`,
        rule.user && words`user ${nameOf(rule.user)}`, rule.call && `call ${rule.call}`, rule.times && (rule.times === 1 ? "once" : `${rule.times} times at most`),
        rule.probability !== undefined && `chance ${rule.probability}`]);
}

customElements.define("ck-faults", Faults);
