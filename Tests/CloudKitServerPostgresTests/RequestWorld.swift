#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// A cloud with an owner, a participant, and records of all kinds, and requests to every endpoint.
struct RequestWorld {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    let bob: FixtureCloud.User
    private let listener: FixtureCloud.Listener

    private var ownersZone: JSON { ["zoneName": "Notes", "ownerRecordName": .string(ada.name)] }

    init(_ storage: some Storage) async throws {
        cloud = try await FixtureCloud(storage: storage)
        ada = try await cloud.addUser(emailAddress: "ada@example.com")
        bob = try await cloud.addUser("Bob", emailAddress: "bob@example.com")
        for zone in ["Notes", "Other"] { try await cloud.addZone(zone, as: ada) }
        listener = try await cloud.listen(as: ada)
        for (database, id) in [(DatabaseScope.private, "all"), (.shared, "shared")] {
            _ = try await cloud.subscribe(id, "database", database, as: ada)
        }
        _ = try await cloud.subscribe(
            "query",
            "query",
            as: ada,
            ["firesOn": ["create", "update"], "query": ["recordType": "Note"]]
        )
        // So many that whoever reads all of them is noticed.
        for start in stride(from: 0, to: Self.records, by: 200) {
            let made = try await cloud.modify(
                as: ada,
                (start..<start + 200).map {
                    FixtureCloud.note("create", "old\($0)", ["n": ["value": .int(Int64($0))]])
                }
            )
            #expect(made.status == 200)
        }
    }

    /// The number of records that are there before the requests.
    static let records = 2000

    /// Sends requests to every endpoint.
    ///
    /// - Parameter prefix: The beginning of the names of records, which are new.
    func send(_ prefix: String) async throws {
        var used: Set<Endpoint> = [.tokensCreate]
        func call(
            _ endpoint: Endpoint,
            _ database: DatabaseScope = .private,
            as user: FixtureCloud.User? = nil,
            _ body: JSON = [:]
        ) async throws -> JSON {
            used.insert(endpoint)
            let response = try await cloud.call(
                endpoint.rawValue,
                database,
                as: user ?? ada,
                body
            )
            #expect(response.status == 200, "\(endpoint.rawValue): \(response)")
            for part in response.records + response.body.zones.elements {
                #expect(part.serverErrorCode == .null, "\(endpoint.rawValue): \(part)")
            }
            return response.body
        }
        let zone = FixtureCloud.zone("Notes")
        func modify(_ operations: [JSON], _ more: [String: JSON] = [:]) async throws -> JSON {
            var body: [String: JSON] = ["zoneID": zone, "operations": .array(operations)]
            body.merge(more) { $1 }
            return try await call(.recordsModify, .private, .object(body))
        }

        // Records, with references, parents, files and links.
        let photo = try await cloud.upload(Data(prefix.utf8), for: prefix + "0", as: ada)
        _ = try await modify(
            (0..<40).map {
                FixtureCloud.note("create", "\(prefix)\($0)", ["n": ["value": .int(Int64($0))]])
            }
        )
        _ = try await modify(
            (0..<40).map { number in
                let target = JSON.string("\(prefix)\(number % 4)")
                return FixtureCloud.note(
                    "create",
                    "\(prefix)link\(number)",
                    ["to": ["value": ["recordName": target, "action": "DELETE_SELF"]]]
                )
            }
        )
        _ = try await modify([FixtureCloud.note("forceUpdate", prefix + "0", ["photo": photo])])
        let shared = try await modify([
            Self.child(prefix + "root", of: nil), Self.child(prefix + "child", of: prefix + "root"),
            [
                "operationType": "create",
                "record": [
                    "recordName": .string(prefix + "share"), "recordType": "cloudkit.share",
                    "forRecord": ["recordName": .string(prefix + "root")],
                    "publicPermission": "NONE",
                    "participants": [
                        [
                            "type": "USER", "permission": "READ_WRITE",
                            "userIdentity": ["userRecordName": .string(bob.name)],
                        ]
                    ],
                ],
            ],
        ])
        let link: JSON = ["shortGUIDs": [["value": shared.records[2].shortGUID]]]
        _ = try await call(.recordsResolve, .public, as: bob, link)
        _ = try await call(.recordsAccept, .public, as: bob, link)

        // Reads by the owner and by the participant, from the start and after a token.
        for (database, user, zoneID) in [
            (DatabaseScope.private, ada, zone), (.shared, bob, ownersZone),
        ] {
            let names: JSON = [["recordName": .string(prefix + "root")]]
            let found = try await call(
                .recordsLookup,
                database,
                as: user,
                ["zoneID": zoneID, "records": names]
            )
            #expect(found.records[0].recordName.text == prefix + "root")
            for endpoint in [Endpoint.changesDatabase, .zonesChanges] {
                var token: JSON = .null
                for _ in 0..<2 {
                    token = try await call(endpoint, database, as: user, ["syncToken": token])
                        .syncToken
                }
            }
            var token: JSON = .null
            for isReverse in [false, false, true] {
                let page: JSON = [
                    "zoneID": zoneID, "syncToken": isReverse ? .null : token, "resultsLimit": 5,
                    "reverse": .bool(isReverse),
                ]
                token = try await call(.changesZone, database, as: user, ["zones": [page]]).zones[0]
                    .syncToken
            }
            _ = try await call(.recordsChanges, database, as: user, ["zoneID": zoneID])
            _ = try await call(.zonesList, database, as: user)
            _ = try await call(.zonesLookup, database, as: user, ["zones": [zoneID]])
            _ = try await call(.subscriptionsList, database, as: user)
            let query: JSON = ["recordType": "Note"]
            _ = try await call(
                .recordsQuery,
                database,
                as: user,
                ["zoneID": zoneID, "query": query]
            )
            _ = try await call(
                .recordsModify,
                database,
                as: user,
                [
                    "zoneID": zoneID,
                    "operations": [
                        Self.child(prefix + "of " + user.name, of: prefix + "root"),
                        FixtureCloud.note("forceUpdate", prefix + "child", ["n": ["value": 7]]),
                    ],
                ]
            )
        }

        // Queries along an index, up and down, page after page.
        let filter: JSON = [
            "fieldName": "n", "comparator": "GREATER_THAN", "fieldValue": ["value": 4],
        ]
        for isAscending in [true, false] {
            let query: JSON = [
                "recordType": "Note", "filterBy": [filter],
                "sortBy": [["fieldName": "n", "ascending": .bool(isAscending)]],
            ]
            var marker: JSON = .null
            for _ in 0..<2 {
                marker = try await call(
                    .recordsQuery,
                    .private,
                    [
                        "zoneID": zone, "query": query, "resultsLimit": 5,
                        "continuationMarker": marker,
                    ]
                ).continuationMarker
            }
            _ = try await call(
                .recordsQueryBatch,
                .private,
                ["batch": [["zoneID": zone, "query": query]]]
            )
        }

        // The rest, users and files among it.
        for endpoint in [Endpoint.usersCaller, .usersCurrent, .usersLookupContacts] {
            _ = try await call(endpoint, .public)
        }
        _ = try await call(
            .usersDiscover,
            .public,
            ["lookupInfos": [["emailAddress": "bob@example.com"]]]
        )
        _ = try await call(
            .usersLookupEmail,
            .public,
            ["users": [["emailAddress": "bob@example.com"]]]
        )
        _ = try await call(
            .usersLookupID,
            .public,
            ["users": [["userRecordName": .string(bob.name)]]]
        )
        _ = try await call(
            .subscriptionsLookup,
            .private,
            ["subscriptions": [["subscriptionID": "all"]]]
        )
        _ = try await call(
            .assetsUpload,
            .private,
            [
                "zoneID": zone,
                "tokens": [
                    [
                        "recordName": .string(prefix + "0"), "recordType": "Note",
                        "fieldName": "photo",
                    ]
                ],
            ]
        )
        let saved = try await cloud.lookUp([prefix + "0"], as: ada)
        #expect(
            try await cloud.download(saved.records[0].fields.photo.value.downloadURL)
                == Data(prefix.utf8)
        )
        _ = try await call(
            .assetsRereference,
            .private,
            [
                "zoneID": zone,
                "assets": [["recordName": .string(prefix + "0"), "fieldName": "photo"]],
            ]
        )
        _ = try await call(.recordsZipPrepare, .private, ["zoneID": zone, "pluginFields": [:]])
        let job = try await call(
            .recordsCopyStart,
            .private,
            [
                "sourceZoneID": zone, "targetZoneID": FixtureCloud.zone("Other"),
                "includeRecords": [.string(prefix + "5")],
            ]
        )
        _ = try await call(.recordsCopyStatus, .private, ["jobID": job.jobID])
        _ = try await cloud.tokens("register", as: ada, token: listener.token)
        used.insert(.tokensRegister)
        #expect(try await listener.next().status == 200)

        // Deletions, which take others with them, and of zones.
        _ = try await modify((0..<4).map { FixtureCloud.note("forceDelete", "\(prefix)\($0)") })
        _ = try await modify([FixtureCloud.note("forceDelete", prefix + "child")])
        for kind in ["create", "delete"] {
            let operation: JSON = [
                "operationType": .string(kind), "zone": ["zoneID": FixtureCloud.zone(prefix)],
            ]
            _ = try await call(.zonesModify, .private, ["operations": [operation]])
        }
        _ = try await call(
            .subscriptionsModify,
            .private,
            [
                "operations": [
                    [
                        "operationType": "create",
                        "subscription": [
                            "subscriptionID": .string(prefix), "subscriptionType": "zone",
                            "zoneID": zone,
                        ],
                    ]
                ]
            ]
        )
        #expect(used == Set(Endpoint.allCases))
    }

    private static func child(_ name: String, of parent: String?) -> JSON {
        var record: [String: JSON] = [
            "recordName": .string(name), "recordType": "Note", "fields": ["n": ["value": 1]],
        ]
        if let parent { record["parent"] = ["recordName": .string(parent)] }
        return ["operationType": "create", "record": .object(record)]
    }
}
#endif
