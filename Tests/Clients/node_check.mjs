// Sends from Node what CloudKit JS sends there, against `cloudkit serve`: as a user, whose token an
// `authTokenStore` keeps, and as a program with a server-to-server key.
//
//     node node_check.mjs CLOUDKIT
//
// CLOUDKIT is the built command; Scripts/clients runs this. Exits 0 when everything holds.
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {createHash, createSign} from "node:crypto";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import vm from "node:vm";

const cloudkit = process.argv[2];
const container = "iCloud.com.example.node";
const source = new URL("Web/client.js", import.meta.url);
const WebClient = vm.runInThisContext(readFileSync(source, "utf8") + "\nWebClient", {filename: source.pathname});

// In Node there is no cookie: the app hands over where tokens are kept.
class NodeClient extends WebClient {
    constructor({authTokenStore, ...settings}) {
        super(settings);
        this.store = authTokenStore;
    }

    get token() { return this.store?.getToken(this.container) ?? null; }
    set token(token) { this.store?.putToken(this.container, token); }
}

class TokenStore {
    kept = {};
    put = 0;
    getToken(container) { return this.kept[container] ?? null; }
    putToken(container, token) { this.kept[container] = token; this.put += 1; }
}

function check(condition, what) {
    assert.ok(condition, what);
    console.log("ok", what);
}

// The settings in a file that a shell can source.
function settings(file) {
    const lines = readFileSync(file, "utf8").split("\n");
    return Object.fromEntries(
        lines.map(line => /^export (\w+)='?(.*?)'?$/.exec(line)).filter(Boolean).map(([, name, value]) => [name, value]));
}

async function serve(folder, ...options) {
    const data = join(folder, `cloud${options.length}`);
    const server = spawn(
        cloudkit, ["serve", "--data", data, "--port", "0", "--container", container, "--user", "Ada", ...options],
        {stdio: ["ignore", "pipe", "inherit"]});
    const {value: greeting} = await createInterface({input: server.stdout})[Symbol.asyncIterator]().next();
    const url = /http:\/\/\S+:\d+/.exec(greeting ?? "")?.[0];
    check(url, `starts the server ${options}`.trim());
    return {data, url, server};
}

async function checkUser({data, url}) {
    const ada = settings(join(data, "ada.env"));
    const store = new TokenStore();
    // The address that CloudKit JS knows, and a `fetch` that goes elsewhere.
    const client = new NodeClient({
        url: "https://api.apple-cloudkit.com", container, apiToken: ada.CLOUDKIT_API_TOKEN, authTokenStore: store,
        fetch: (address, options) => fetch(address.replace("https://api.apple-cloudkit.com", url), options),
    });
    check(await client.setUpAuth() === null, "nobody is signed in at first");
    check(client.redirectURL.startsWith(url), "the refusal says where to sign in");
    client.token = ada.CLOUDKIT_WEB_AUTH_TOKEN;
    const user = await client.setUpAuth();
    check(user.userRecordName.startsWith("_"), "is signed in with the token that was kept");

    const zone = {zoneName: "Node"};
    await client.send("database", "private", "zones/modify", {
        operations: [{operationType: "create", zone: {zoneID: zone}}],
    });
    const bytes = Buffer.from(Uint8Array.from({length: 70000}, (_, place) => place % 251));
    const file = await client.upload(zone, "Photo", "image", new Blob([bytes]));
    const [saved] = (await client.save(zone, "Photo", {title: "Milk", image: file, size: 1})).records;
    check(!saved.serverErrorCode, `saves a record with a file ${saved.reason ?? ""}`.trim());
    const read = Buffer.from(await (await fetch(saved.fields.image.value.downloadURL)).arrayBuffer());
    check(read.equals(bytes), "reads the file back");
    const {records} = await client.send("database", "private", "records/query", {zoneID: zone, query: {
        recordType: "Photo",
        filterBy: [{fieldName: "size", comparator: "LESS_THAN", fieldValue: {value: 2}}],
        sortBy: [{fieldName: "title", ascending: true}],
    }});
    check(records.length === 1 && records[0].recordName === saved.recordName, "queries by bare values");

    await client.send("database", "private", "subscriptions/modify", {operations: [{
        operationType: "create",
        subscription: {
            subscriptionID: "news", subscriptionType: "zone", zoneID: zone, notificationInfo: {alertBody: "News"},
        },
    }]});
    const news = new Promise(resolve => client.listen(resolve));
    const other = new NodeClient({url, container, apiToken: ada.CLOUDKIT_API_TOKEN, authTokenStore: store, fetch});
    await other.save(zone, "Photo", {title: "Eggs", size: 3});
    check((await news).ck.fet.sid === "news", "hears of another client by the long poll");
    client.signOut();
    check(await client.setUpAuth() === null, "is signed out");
}

async function checkRotation({data, url}) {
    const ada = settings(join(data, "ada.env"));
    const store = new TokenStore();
    store.putToken(container, ada.CLOUDKIT_WEB_AUTH_TOKEN);
    const client = new NodeClient({url, container, apiToken: ada.CLOUDKIT_API_TOKEN, authTokenStore: store, fetch});
    for (let round = 0; round < 3; round += 1) await client.setUpAuth();
    check(store.put === 4 && client.token !== ada.CLOUDKIT_WEB_AUTH_TOKEN, "keeps each new token in the store");
}

// CloudKit JS signs the path with its query, and the hash of nothing for a request without a body.
function signing(keyID, privateKey) {
    return (address, options) => {
        const {pathname, search} = new URL(address);
        const date = new Date().toISOString().replace(/\.\d+/, "");
        const hash = createHash("sha256").update(options.body ?? "").digest("base64");
        const signature = createSign("RSA-SHA256").update(`${date}:${hash}:${pathname}${search}`)
            .sign(privateKey, "base64");
        return fetch(address, {...options, headers: {
            "X-Apple-CloudKit-Request-KeyID": keyID,
            "X-Apple-CloudKit-Request-ISO8601Date": date,
            "X-Apple-CloudKit-Request-SignatureV1": signature,
        }});
    };
}

async function checkServerKey({data, url}) {
    const key = join(data, "key.pem");
    const env = join(data, "server.env");
    execFileSync(cloudkit, [
        "tokens", "server-key", "--private-key-file", key, "--data", data, "--url", url, "--output", env,
    ], {stdio: "pipe"});
    const client = new NodeClient({
        url, container, fetch: signing(settings(env).CLOUDKIT_KEY_ID, readFileSync(key, "utf8")),
    });
    const me = await client.send("database", "public", "users/caller");
    check(me.userRecordName, "a signed request without a body says who asks");
    const {records: [saved]} = await client.send("database", "public", "records/modify", {operations: [
        {operationType: "create", record: {recordType: "News", fields: {title: {value: "Zürich"}, size: {value: 1}}}},
    ]});
    check(!saved.serverErrorCode, `a signed request saves to the public database ${saved.reason ?? ""}`.trim());
    const {records} = await client.send("database", "public", "records/query", {query: {
        recordType: "News", filterBy: [{fieldName: "title", comparator: "EQUALS", fieldValue: {value: "Zürich"}}],
    }});
    check(records[0].recordName === saved.recordName, "and finds it there");
    client.fetch = signing("0".repeat(64), readFileSync(key, "utf8"));
    await assert.rejects(client.setUpAuth(), {serverErrorCode: "AUTHENTICATION_FAILED"});
    check(true, "a key that nobody knows is refused");
}

const folder = mkdtempSync(join(tmpdir(), "cloudkit-node-"));
const servers = [];
try {
    for (const options of [[], ["--rotate-tokens"]]) servers.push(await serve(folder, ...options));
    await checkUser(servers[0]);
    await checkRotation(servers[1]);
    await checkServerKey(servers[0]);
} finally {
    for (const {server} of servers) server.kill();
    rmSync(folder, {recursive: true, force: true});
}
