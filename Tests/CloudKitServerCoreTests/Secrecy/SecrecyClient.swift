import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures

/// Sends random requests as several users to one service, and reports responses and changes that
/// the model does not allow.
struct SecrecyClient {
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    /// A request.
    struct Request {
        var endpoint: String
        var database = DatabaseScope.private
        var user: FixtureCloud.User?
        var body: JSON
        /// The owner of the zone that it may change; nil for none, or for any.
        var owner: String?
    }

    private static let schema = """
        DEFINE SCHEMA
        CREATE ROLE team;
        RECORD TYPE Open (
            "___recordID" REFERENCE QUERYABLE, secret STRING QUERYABLE SORTABLE, photo ASSET,
            to REFERENCE, GRANT READ TO "_world", GRANT CREATE TO "_icloud",
            GRANT WRITE TO "_creator"
        );
        RECORD TYPE Letter (
            "___recordID" REFERENCE QUERYABLE, secret STRING QUERYABLE SORTABLE, photo ASSET,
            to REFERENCE, GRANT READ TO "_creator", GRANT CREATE, WRITE TO "_icloud"
        );
        RECORD TYPE Wiki (
            "___recordID" REFERENCE QUERYABLE, secret STRING QUERYABLE SORTABLE, photo ASSET,
            to REFERENCE, GRANT READ TO "_world", GRANT CREATE, WRITE TO "_icloud"
        );
        RECORD TYPE Team (
            "___recordID" REFERENCE QUERYABLE, secret STRING QUERYABLE SORTABLE, photo ASSET,
            to REFERENCE, GRANT READ, CREATE, WRITE TO team
        );
        """

    let cloud: FixtureCloud
    let users: [FixtureCloud.User]
    var random: SecrecyRandom
    var model = SecrecyModel()
    var counter = 0
    /// The number of requests so far, including those that only update the model.
    private(set) var sent = 0
    private var tokens: [String: JSON] = [:]

    init(seed: UInt64) async throws {
        random = SecrecyRandom(seed: seed)
        cloud = try await FixtureCloud()
        _ = try await cloud.service.importSchema(
            Self.schema,
            container: FixtureCloud.container,
            environment: .development
        )
        var users: [FixtureCloud.User] = []
        for name in ["ada", "bob", "cleo", "dora"] {
            let user = try await cloud.addUser(name, emailAddress: "\(name)@secret.example")
            try await cloud.addZone("Z", as: user)
            users.append(user)
            model.zones[user.name] = SecrecyModel.Zone()
        }
        self.users = users
    }

    /// Sends a random request and checks its effects.
    mutating func step() async throws {
        if random.chance(2) { try await changeRoles() }
        var request = try await randomRequest()
        if random.chance(20) {
            request.body = random.mutate(request.body, words)
            request.owner = nil
        }
        try await send(request)
    }

    /// The names that a mutation substitutes for others.
    private var words: [String] {
        let zone = model.zones.values.flatMap(\.records.keys).sorted()
        return zone + model.pub.keys.sorted() + users.map(\.name)
            + ["Z", "_defaultZone", "DELETE_SELF", "VALIDATE", "READ_WRITE", "cloudkit.share"]
    }

    private mutating func changeRoles() async throws {
        guard let user = random.pick(users) else { return }
        let isIn = random.chance(50)
        try await cloud.service.setRoles(
            isIn ? ["team"] : [],
            of: user.user,
            environment: .development
        )
        if isIn { model.team.insert(user.name) } else { model.team.remove(user.name) }
    }

    // MARK: Sending

    private mutating func send(_ request: Request) async throws {
        let before = model
        let body = try JSONEncoder().encode(request.body)
        let asked = String(decoding: body, as: UTF8.self)
        let response = try await cloud.call(
            request.endpoint,
            request.database,
            as: request.user,
            request.body
        )
        sent += 1
        func problem(_ what: String) -> Problem {
            let who = request.user?.user.givenName ?? "nobody"
            return Problem(
                description:
                    "\(what)\nas \(who): \(request.database) \(request.endpoint) \(asked)\n"
                    + "response \(response.status): \(response.body)"
            )
        }
        let text = String(decoding: try JSONEncoder().encode(response.body), as: UTF8.self)
        // An item may fail individually; its code alone also stands for errors that iCloud has no
        // code for.
        if response.status >= 500 || text.contains("The server failed") {
            throw problem("The service failed")
        }
        notePublic(request, response)
        try await catchUp(request)
        var told = response.body
        if request.endpoint == "records/zip/prepare", told.downloadURL.text != nil {
            let archive = try await cloud.download(told.downloadURL)
            // Its texts are not compressed.
            told = [told, .string(String(decoding: archive, as: UTF8.self))]
        }
        if let what = try leak(in: told, asked, request, before) { throw problem(what) }
        guard let user = request.user?.name else { return }
        // A user who copies something into their own zone, or uses a receipt for it, has seen it.
        let known = before.secrets(for: user).union(Self.secrets(in: request.body))
        for record in model.zones[user]?.records.values ?? [String: SecrecyModel.Record]().values {
            let fresh = record.secrets.subtracting(known)
            if !fresh.isEmpty { throw problem("The zone of its sender got \(fresh)") }
        }
        for (owner, zone) in model.zones where owner != user {
            guard let old = before.zones[owner] else { continue }
            let names = Set(old.records.keys).union(zone.records.keys)
            if let what = SecrecyModel.problem(from: old, to: zone, by: user, names) {
                throw problem("Somebody who does not own the zone \(what)")
            }
        }
    }

    /// Returns the part of a response that the user must not see.
    private func leak(
        in response: JSON,
        _ asked: String,
        _ request: Request,
        _ before: SecrecyModel
    ) throws -> String? {
        let user = request.user?.name
        let text = String(decoding: try JSONEncoder().encode(response), as: UTF8.self)
            .replacingOccurrences(of: "\\/", with: "/")
        let plain = asked.replacingOccurrences(of: "\\/", with: "/")
        var allowed = before.secrets(for: user).union(model.secrets(for: user))
        for link in request.body.shortGUIDs.elements {
            guard let user, let link = link.value.text else { continue }
            allowed.formUnion(before.secrets(through: link, for: user))
        }
        for secret in Self.secrets(in: response) where !allowed.contains(secret) {
            if !plain.contains(secret) { return "The response shows \(secret)" }
        }
        for other in users where other.name != user {
            let address = "\(other.user.givenName ?? "")@secret.example"
            guard text.contains(address), !plain.contains(address) else { continue }
            if model.knownAddresses[user ?? ""]?.contains(address) != true {
                return "The response shows \(address)"
            }
        }
        return nil
    }

    /// Returns the markers of fields and the checksums of files anywhere in a response.
    static func secrets(in json: JSON) -> Set<String> {
        switch json {
        case .array(let elements):
            return elements.reduce(into: []) { $0.formUnion(secrets(in: $1)) }
        case .object(let members):
            var found = members.values.reduce(into: Set<String>()) { $0.formUnion(secrets(in: $1)) }
            if let checksum = members["fileChecksum"]?.text { found.insert(checksum) }
            return found
        case .string(let text):
            return Set(text.matches(of: /#[0-9]+#/).map { String($0.output) })
        default: return []
        }
    }

    // MARK: The model

    /// Records the new state of public records.
    private mutating func notePublic(_ request: Request, _ response: FixtureCloud.Response) {
        guard request.database == .public, request.endpoint == "records/modify" else { return }
        for (place, record) in response.records.enumerated() {
            guard let name = record.recordName.text, record.serverErrorCode == nil else { continue }
            if record.deleted == true {
                model.pub[name] = nil
                continue
            }
            let sent = request.body.operations[place]
            var secrets = Self.secrets(in: record)
            // Data that the response leaves out may still exist.
            secrets.formUnion(Self.secrets(in: sent))
            secrets.formUnion(model.pub[name]?.secrets ?? [])
            model.pub[name] = SecrecyModel.PublicRecord(
                type: record.recordType.text ?? "",
                creator: record.created.userRecordName.text ?? "",
                secrets: secrets
            )
        }
    }

    /// Reads, as their owners, the zones that a request may have changed.
    private mutating func catchUp(_ request: Request) async throws {
        let changes = ["records/modify", "records/accept", "records/copy/start"]
        guard changes.contains(request.endpoint),
            request.database != .public
                || request.endpoint == "records/accept"
        else { return }
        for user in users where request.owner == nil || request.owner == user.name {
            try await catchUp(user)
        }
    }

    private mutating func catchUp(_ user: FixtureCloud.User) async throws {
        var hasMore = true
        while hasMore {
            let page = try await cloud.changes(in: "Z", as: user, after: tokens[user.name] ?? nil)
            guard page.serverErrorCode == nil else { throw Problem(description: "\(page)") }
            for record in page.records.elements { note(record, of: user.name) }
            tokens[user.name] = page.syncToken
            hasMore = page.moreComing == true
        }
    }

    private mutating func note(_ record: JSON, of owner: String) {
        guard let name = record.recordName.text else { return }
        guard record.deleted != true else {
            model.zones[owner]?.records[name] = nil
            model.zones[owner]?.roots[name] = nil
            return
        }
        var found = SecrecyModel.Record(
            name: name,
            parent: record.parent.recordName.text,
            secrets: Self.secrets(in: record.fields),
            ties: []
        )
        let reference = record.fields.to.value
        if let action = reference.action.text, action != "NONE", let to = reference.recordName.text
        {
            found.ties = [to]
        }
        if record.recordType == "cloudkit.share" {
            var guests: [String: SecrecyModel.Guest] = [:]
            for guest in record.participants.elements where guest.type != "OWNER" {
                guard let user = guest.userIdentity.userRecordName.text else { continue }
                guests[user] = SecrecyModel.Guest(
                    permission: guest.permission.text ?? "NONE",
                    hasAccepted: guest.acceptanceStatus == "ACCEPTED"
                )
            }
            found.share = SecrecyModel.Share(
                guests: guests,
                everyone: record.publicPermission.text ?? "NONE",
                link: record.shortGUID.text ?? ""
            )
        }
        model.zones[owner]?.records[name] = found
        if let share = record.share.recordName.text { model.zones[owner]?.roots[share] = name }
    }
}
