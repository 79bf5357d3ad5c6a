import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

// The changes that a schedule draws.
extension FeedSchedule {
    mutating func change() async throws {
        let names = oracle.parents.keys.sorted()
        switch Int.random(in: 0..<15, using: &random) {
        case 0...2:
            try await create(below: random.chance(75) ? names.randomElement(using: &random) : nil)
        case 3, 4: try await move(names)
        case 5, 6: try await delete(names)
        case 7, 8: try await share(names)
        case 9: try await unshare()
        case 10, 11: try await accept()
        case 12: try await leave()
        case 13: try await permit()
        default: try await edit(names)
        }
    }

    /// Runs an operation of Ada's; returns whether it succeeded.
    @discardableResult
    private mutating func modify(
        _ operation: JSON,
        _ story: String,
        touching names: [String]
    ) async throws -> Bool {
        let response = try await cloud.modify(as: ada, [operation])
        let isDone = response.records.first?.serverErrorCode == JSON.null
        log.append((isDone ? "" : "refused: ") + story)
        if isDone { touched.formUnion(names) }
        return isDone
    }

    private mutating func create(below parent: String?) async throws {
        made += 1
        // From time to time names are reused, in other places.
        let former = random.chance(40) ? deleted.randomElement(using: &random) : nil
        let name = former ?? "r\(made)"
        let isDone = try await modify(
            SharedTrees.save("create", name, below: parent),
            "create \(name) below \(parent ?? "nothing")",
            touching: [name]
        )
        guard isDone else { return }
        oracle.parents[name] = .some(parent)
        deleted.removeAll { $0 == name }
    }

    private mutating func edit(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        try await modify(
            SharedTrees.save("forceUpdate", name, below: oracle.parents[name] ?? nil),
            "edit \(name)",
            touching: [name]
        )
    }

    private mutating func move(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        let parent = random.chance(80) ? names.randomElement(using: &random) : nil
        if let parent, oracle.lineage(parent).contains(name) { return }
        let isDone = try await modify(
            SharedTrees.save("forceReplace", name, below: parent),
            "move \(name) below \(parent ?? "nothing")",
            touching: [name]
        )
        try #require(isDone == oracle.mayMove(name, below: parent), "\(story("a move"))")
        if isDone { oracle.parents[name] = .some(parent) }
    }

    private mutating func delete(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        let shares = oracle.shares.filter { $0.value.root == name }.map(\.key)
        let isDone = try await modify(
            FixtureCloud.note("forceDelete", name),
            "delete \(name)",
            touching: [name] + shares
        )
        guard isDone else { return }
        oracle.parents[name] = nil
        deleted.append(name)
        for share in shares { oracle.shares[share] = nil }
    }

    private mutating func share(_ names: [String]) async throws {
        guard oracle.shares.count < 5, let root = names.randomElement(using: &random) else {
            return
        }
        made += 1
        let name = "share\(made)"
        let parts = Dictionary(
            uniqueKeysWithValues: guests.map { ($0.name, FeedOracle.Part(permission: "READ_ONLY")) }
        )
        let operation: JSON = [
            "operationType": "create",
            "record": [
                "recordName": .string(name), "recordType": "cloudkit.share",
                "forRecord": ["recordName": .string(root)], "publicPermission": "NONE",
                "participants": .array(participants(parts)),
            ],
        ]
        let isDone = try await modify(operation, "\(name) of \(root)", touching: [name, root])
        try #require(isDone == oracle.mayShare(root), "\(story("a share"))")
        if isDone { oracle.shares[name] = FeedOracle.Share(root: root, parts: parts) }
    }

    private func participants(_ parts: [String: FeedOracle.Part]) -> [JSON] {
        parts.sorted { $0.key < $1.key }.map { name, part in
            [
                "type": "USER", "permission": .string(part.permission),
                "userIdentity": ["userRecordName": .string(name)],
            ]
        }
    }

    private mutating func unshare() async throws {
        guard let name = oracle.shares.keys.sorted().randomElement(using: &random),
            let root = oracle.shares[name]?.root
        else { return }
        let isDone = try await modify(
            FixtureCloud.note("forceDelete", name),
            "unshare \(name)",
            touching: [name, root]
        )
        if isDone { oracle.shares[name] = nil }
    }

    /// Changes guests' permissions, removes some guests, and invites absent ones again.
    private mutating func permit() async throws {
        guard let name = oracle.shares.keys.sorted().randomElement(using: &random) else { return }
        var parts: [String: FeedOracle.Part] = [:]
        for guest in guests where random.chance(85) {
            let permissions = ["READ_ONLY", "READ_WRITE", "NONE"]
            parts[guest.name] = FeedOracle.Part(
                hasAccepted: oracle.shares[name]?.parts[guest.name]?.hasAccepted ?? false,
                permission: permissions.randomElement(using: &random) ?? "NONE"
            )
        }
        let record: JSON = [
            "recordName": .string(name), "recordType": "cloudkit.share",
            "participants": .array(participants(parts)),
        ]
        let rights = parts.map { "\($0.key.suffix(4)) \($0.value.permission)" }.sorted()
        let isDone = try await modify(
            ["operationType": "forceUpdate", "record": record],
            "permit \(rights) in \(name)",
            touching: [name]
        )
        try #require(isDone, "\(story("a change"))")
        oracle.shares[name]?.parts = parts
    }

    private mutating func accept() async throws {
        guard let name = oracle.shares.keys.sorted().randomElement(using: &random),
            let guest = guests.randomElement(using: &random)
        else { return }
        let share = try await cloud.lookUp([name], as: ada).records[0]
        let response = try await cloud.call(
            "records/accept",
            .public,
            as: guest,
            ["shortGUIDs": [["value": share.shortGUID]]]
        )
        let isDone = response.body.results[0].serverErrorCode == JSON.null
        log.append("\(isDone ? "" : "refused: ")\(guest.name.suffix(4)) accepts \(name)")
        try #require(
            isDone == (oracle.shares[name]?.parts[guest.name] != nil),
            "\(story("a change"))"
        )
        guard isDone else { return }
        touched.insert(name)
        oracle.shares[name]?.parts[guest.name]?.hasAccepted = true
    }

    private mutating func leave() async throws {
        guard let guest = guests.randomElement(using: &random) else { return }
        let own = oracle.shares.filter { $0.value.isOpen(to: guest.name) }.keys.sorted()
        guard let name = own.randomElement(using: &random) else { return }
        let body: JSON = ["zoneID": zoneID, "operations": [FixtureCloud.note("forceDelete", name)]]
        let response = try await cloud.call("records/modify", .shared, as: guest, body)
        log.append("\(guest.name.suffix(4)) leaves \(name)")
        try #require(
            response.records.first?.serverErrorCode == JSON.null,
            "\(story("a change"))"
        )
        touched.insert(name)
        // The invitation was removed with it; the owner would have to invite again.
        oracle.shares[name]?.parts[guest.name] = nil
    }
}
