import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures

// The requests of a client that acts as several users.
extension SecrecyClient {
    mutating func randomRequest() async throws -> Request {
        guard let user = random.pick(users) else { throw Problem(description: "No users") }
        switch random.number(0...19) {
        case 0...4: return try await own(user)
        case 5...10: return try await foreign(user)
        case 11...15: return try await publicRequest(random.chance(15) ? nil : user)
        case 16, 17: return link(user)
        default: return people(user)
        }
    }

    // MARK: Records

    private mutating func newName() -> String {
        counter += 1
        return "q\(counter)q"
    }

    /// Returns a name in a zone: more often than not that of an existing record.
    private mutating func name(in owner: String) -> String {
        let names = model.zones[owner]?.records.keys.sorted() ?? []
        return random.chance(90) ? random.pick(names) ?? newName() : newName()
    }

    private mutating func fields() -> [String: JSON] {
        guard random.chance(75) else { return [:] }
        counter += 1
        return ["secret": ["value": .string("#\(counter)#")]]
    }

    /// Returns a file that no other record has.
    private mutating func photo(
        for name: String,
        _ type: String,
        _ request: (database: DatabaseScope, zone: JSON),
        as user: FixtureCloud.User
    ) async throws -> JSON? {
        let token: JSON = [
            "recordName": .string(name), "recordType": .string(type), "fieldName": "photo",
        ]
        let places = try await cloud.call(
            "assets/upload",
            request.database,
            as: user,
            ["zoneID": request.zone, "tokens": [token]]
        )
        guard let url = places.body.tokens[0].url.text else { return nil }
        counter += 1
        let bytes = Data("photo \(counter)".utf8)
        let body = AsyncStream<Data> {
            $0.yield(bytes)
            $0.finish()
        }
        let response = await cloud.service.receiveAsset(
            token: String(url.split(separator: "/").last ?? ""),
            body: body
        )
        guard response.status == 200 else { return nil }
        return ["value": try JSON(response.body).singleFile, "type": "ASSETID"]
    }

    /// Returns an operation on a record of a zone, with a parent and a reference of any kind.
    private mutating func operation(
        in owner: String,
        _ database: DatabaseScope,
        as user: FixtureCloud.User
    ) async throws -> JSON {
        let kind = random.one(
            "create",
            "create",
            "create",
            "update",
            "replace",
            "forceUpdate",
            "forceUpdate",
            "forceReplace",
            "delete",
            "forceDelete"
        )
        let name = kind == "create" && random.chance(90) ? newName() : self.name(in: owner)
        var record: [String: JSON] = [
            "recordName": .string(name), "recordType": "Note",
            "recordChangeTag": .string(random.one("1", "2", "3", "zz")),
        ]
        var fields = self.fields()
        if random.chance(25) {
            fields["to"] = [
                "value": [
                    "recordName": .string(self.name(in: owner)),
                    "action": .string(random.one("NONE", "DELETE_SELF", "VALIDATE")),
                ]
            ]
        }
        if random.chance(8), kind != "delete", kind != "forceDelete" {
            let zone: JSON = ["zoneName": "Z", "ownerRecordName": .string(owner)]
            fields["photo"] = try await photo(for: name, "Note", (database, zone), as: user)
        }
        record["fields"] = .object(fields)
        if random.chance(60) { record["parent"] = ["recordName": .string(self.name(in: owner))] }
        if random.chance(5) { record["removesParent"] = true }
        return ["operationType": .string(kind), "record": .object(record)]
    }

    private mutating func operations(
        in owner: String,
        _ database: DatabaseScope,
        as user: FixtureCloud.User
    ) async throws -> JSON {
        var operations: [JSON] = []
        for _ in 0..<random.number(1...4) {
            operations.append(try await operation(in: owner, database, as: user))
        }
        return [
            "zoneID": ["zoneName": "Z", "ownerRecordName": .string(owner)],
            "atomic": .bool(random.chance(40)), "operations": .array(operations),
        ]
    }

    // MARK: One's own zone

    private mutating func own(_ user: FixtureCloud.User) async throws -> Request {
        var request = Request(endpoint: "records/modify", user: user, body: [:], owner: user.name)
        let records = model.zones[user.name]?.records ?? [:]
        if random.chance(55) || records.isEmpty {
            request.body = try await operations(in: user.name, .private, as: user)
        } else {
            request.body = share(of: user)
        }
        return request
    }

    /// Returns a request that creates, changes or ends a share; one of the users shares the whole
    /// zone at times.
    private mutating func share(of user: FixtureCloud.User) -> JSON {
        let zone = model.zones[user.name] ?? SecrecyModel.Zone()
        let shares = zone.records.values.filter { $0.share != nil }.map(\.name).sorted()
        let operation: JSON
        if let known = random.pick(shares), random.chance(60) {
            let kind = random.chance(15) ? "forceDelete" : "forceUpdate"
            operation = [
                "operationType": .string(kind),
                "record": .object(shareParts(known, of: user)),
            ]
        } else {
            let root = name(in: user.name)
            let isWhole = user.name == users.last?.name && random.chance(70)
            var parts = shareParts(isWhole ? "cloudkit.zoneshare" : "share-\(root)", of: user)
            if !isWhole { parts["forRecord"] = ["recordName": .string(root)] }
            operation = ["operationType": "create", "record": .object(parts)]
        }
        return ["zoneID": ["zoneName": "Z"], "operations": [operation]]
    }

    private mutating func shareParts(_ name: String, of user: FixtureCloud.User) -> [String: JSON] {
        var parts: [String: JSON] = [
            "recordName": .string(name), "recordType": "cloudkit.share",
            "publicPermission": .string(random.one("NONE", "NONE", "READ_ONLY", "READ_WRITE")),
        ]
        var guests: [JSON] = []
        for guest in users where guest.name != user.name && random.chance(50) {
            let address = "\(guest.user.givenName ?? "")@secret.example"
            let isByAddress = random.chance(50)
            if isByAddress { model.knownAddresses[user.name, default: []].insert(address) }
            guests.append([
                "type": "USER",
                "permission": .string(random.one("READ_ONLY", "READ_WRITE", "READ_WRITE", "NONE")),
                "userIdentity": isByAddress
                    ? ["lookupInfo": ["emailAddress": .string(address)]]
                    : ["userRecordName": .string(guest.name)],
            ])
        }
        if random.chance(70) { parts["participants"] = .array(guests) }
        return parts
    }

    // MARK: Zones of others

    private mutating func foreign(_ user: FixtureCloud.User) async throws -> Request {
        guard let owner = random.pick(users.filter { $0.name != user.name })?.name else {
            throw Problem(description: "One user only")
        }
        let zone: JSON = ["zoneName": "Z", "ownerRecordName": .string(owner)]
        var request = Request(
            endpoint: "records/modify",
            database: .shared,
            user: user,
            body: [:],
            owner: owner
        )
        // No user has other users' zones in the private database.
        if random.chance(10) { request.database = .private }
        switch random.number(0...9) {
        case 0...5: request.body = try await operations(in: owner, .shared, as: user)
        case 6:
            request.endpoint = random.one("records/lookup", "records/lookup", "assets/rereference")
            let names = (0..<random.number(1...8)).map { _ in name(in: owner) }
            request.body =
                request.endpoint == "records/lookup"
                ? [
                    "zoneID": zone,
                    "records": .array(names.map { ["recordName": .string($0)] }),
                ]
                : [
                    "zoneID": zone,
                    "assets": .array(
                        names.map { ["recordName": .string($0), "fieldName": "photo"] }
                    ),
                ]
        case 7:
            request.endpoint = random.one("changes/zone", "records/changes", "records/zip/prepare")
            switch request.endpoint {
            case "changes/zone":
                request.body = ["zones": [["zoneID": zone, "reverse": .bool(random.chance(30))]]]
            case "records/changes":
                request.body = ["zoneID": zone, "reverse": .bool(random.chance(30))]
            default: request.body = ["zoneID": zone, "pluginFields": [:]]
            }
        case 8:
            let query: JSON = [
                "zoneID": zone,
                "query": ["recordType": "Note", "sortBy": [["fieldName": "secret"]]],
            ]
            request.endpoint = random.one("records/query", "internal/records/query/batch")
            request.body = request.endpoint == "records/query" ? query : ["batch": [query, query]]
        default:
            request.endpoint = "records/copy/start"
            request.owner = nil
            let isFrom = random.chance(50)
            let own: JSON = ["zoneName": "Z", "ownerRecordName": .string(user.name)]
            let names = (0..<random.number(1...3)).map { _ in
                JSON.string(name(in: isFrom ? owner : user.name))
            }
            request.body = [
                "sourceZoneID": isFrom ? zone : own, "targetZoneID": isFrom ? own : zone,
                "includeRecords": .array(names),
                "targetRootName": .string(name(in: isFrom ? user.name : owner)),
            ]
        }
        return request
    }

    // MARK: The public database

    private mutating func publicRequest(_ user: FixtureCloud.User?) async throws -> Request {
        let known = model.pub.keys.sorted()
        var request = Request(
            endpoint: "records/modify",
            database: .public,
            user: user,
            body: [:]
        )
        let type = random.one("Open", "Letter", "Wiki", "Team")
        switch random.number(0...9) {
        case 0...5:
            let kind = random.one(
                "create",
                "create",
                "update",
                "forceUpdate",
                "forceUpdate",
                "forceReplace",
                "delete",
                "forceDelete"
            )
            let isNew = kind == "create" && random.chance(85)
            let name = isNew ? newName() : random.pick(known) ?? newName()
            var fields = self.fields()
            if let target = random.pick(known), random.chance(20) {
                fields["to"] = ["value": ["recordName": .string(target), "action": "VALIDATE"]]
            }
            if random.chance(10), let user, kind == "create" {
                let zone: JSON = ["zoneName": "_defaultZone"]
                fields["photo"] = try await photo(for: name, type, (.public, zone), as: user)
            }
            let isKnown = model.pub[name]?.type
            request.body = [
                "operations": [
                    [
                        "operationType": .string(kind),
                        "record": [
                            "recordName": .string(name), "recordType": .string(isKnown ?? type),
                            "recordChangeTag": .string(random.one("1", "2", "5")),
                            "fields": .object(fields),
                        ],
                    ]
                ]
            ]
        case 6, 7:
            request.endpoint = random.one("records/lookup", "assets/rereference")
            let names = (0..<random.number(1...8)).compactMap { _ in random.pick(known) }
            request.body =
                request.endpoint == "records/lookup"
                ? ["records": .array(names.map { ["recordName": .string($0)] })]
                : [
                    "assets": .array(
                        names.map { ["recordName": .string($0), "fieldName": "photo"] }
                    )
                ]
        default:
            let sort: JSON = ["fieldName": "secret", "ascending": .bool(random.chance(50))]
            let query: JSON = ["query": ["recordType": .string(type), "sortBy": [sort]]]
            request.endpoint = random.one("records/query", "internal/records/query/batch")
            request.body = request.endpoint == "records/query" ? query : ["batch": [query, query]]
        }
        return request
    }

    // MARK: Links and people

    private mutating func link(_ user: FixtureCloud.User) -> Request {
        let links = model.zones.values.flatMap { $0.records.values.compactMap(\.share?.link) }
        let link = random.pick(links.sorted()) ?? "0"
        return Request(
            endpoint: random.one("records/resolve", "records/accept", "records/accept"),
            database: .public,
            user: user,
            body: ["shortGUIDs": [["value": .string(link), "shouldFetchRootRecord": true]]]
        )
    }

    private mutating func people(_ user: FixtureCloud.User) -> Request {
        let other = random.pick(users) ?? user
        let address = "\(other.user.givenName ?? "")@secret.example"
        switch random.number(0...3) {
        case 0:
            let info: JSON = ["emailAddress": .string(address)]
            return Request(
                endpoint: "users/lookup/email",
                database: .public,
                user: user,
                body: ["users": [info]]
            )
        case 1:
            return Request(
                endpoint: "users/discover",
                database: .public,
                user: user,
                body: ["lookupInfos": [["userRecordName": .string(other.name)]]]
            )
        case 2:
            return Request(endpoint: "zones/list", database: .shared, user: user, body: [:])
        default:
            return Request(
                endpoint: "users/lookup/id",
                database: .public,
                user: user,
                body: ["users": [["userRecordName": .string(other.name)]]]
            )
        }
    }
}
