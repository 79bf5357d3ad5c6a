// Stands where CloudKit JS stands in the guide: the calls that the guide shows, on the small client, through
// the `fetch` that the page hands over.
"use strict";

const CloudKit = {
    configure({containers: [settings], services}) {
        const client = new WebClient({
            url: "https://api.apple-cloudkit.com",
            container: settings.containerIdentifier,
            apiToken: settings.apiTokenAuth.apiToken,
            fetch: services.fetch,
        });
        const zoneID = {zoneName: "_defaultZone"};
        this.container = {
            client,
            async setUpAuth() {
                const button = document.getElementById(settings.apiTokenAuth.signInButton.id);
                const user = await client.setUpAuth();
                button.hidden = user !== null;
                button.onclick = () => client.signIn();
                return user;
            },
            fetchCurrentUserIdentity: () => client.send("database", "public", "users/caller"),
            privateCloudDatabase: {
                async saveRecords({recordType, fields}) {
                    const values = {};
                    for (const [key, {value}] of Object.entries(fields)) {
                        values[key] = value instanceof Blob
                            ? await client.upload(zoneID, recordType, key, value) : value;
                    }
                    return client.save(zoneID, recordType, values);
                },
                performQuery: query => client.send("database", "private", "records/query", {zoneID, query}),
            },
        };
        return this;
    },
    getDefaultContainer() { return this.container; },
};
