import CloudKit
import Support
import Testing

// The random changes of a schedule.
extension TreeSchedule {
    mutating func change() async throws {
        let names = oracle.items.keys.sorted()
        switch Int.random(in: 0..<16, using: &random) {
        case 0...2:
            try await create(below: random.chance(80) ? names.randomElement(using: &random) : nil)
        case 3, 4: try await move(names)
        case 5: try await delete(names)
        case 6: try await edit(names)
        case 7, 8: try await share(names)
        case 9: try await unshare()
        case 10...12: try await accept()
        case 13: try await leave()
        default: try await changeAsGuest()
        }
    }

    private var database: CKDatabase { owner.privateCloudDatabase }

    private func id(_ name: String, asGuest isGuest: Bool = false) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: isGuest ? sharedZone : ownZone)
    }

    /// Performs a change that may be refused, and expects a refusal exactly when it is due.
    private mutating func attempt(
        _ story: String,
        refused code: CKError.Code?,
        _ body: () async throws -> Void
    ) async throws -> Bool {
        log.append(story)
        var found: CKError.Code?
        do {
            try await body()
        } catch let error as CKError {
            found = error.code
        }
        try #require(found == code, "\(self.story("a change"))")
        return found == nil
    }

    private mutating func create(below parent: String?) async throws {
        made += 1
        // Names are sometimes reused, in other places.
        let name = "r\(random.chance(20) ? Int.random(in: 1...made, using: &random) : made)"
        guard oracle.items[name] == nil else { return }
        let item = TreeFollower.Item(parent: parent, title: "t\(made)")
        let record = CKRecord(recordType: "Item", recordID: id(name))
        record["title"] = item.title
        record.setParent(parent.map { id($0) })
        try await database.save(record)
        log.append("create \(name) below \(parent ?? "nothing")")
        oracle.items[name] = item
    }

    private mutating func move(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        let parent = random.chance(80) ? names.randomElement(using: &random) : nil
        if let parent, oracle.lineage(parent).contains(name) { return }
        let overlaps = parent.map(oracle.liesInShare) ?? false && oracle.holdsRoot(name)
        let record = try await database.record(for: id(name))
        record.setParent(parent.map { id($0) })
        let database = database
        let isDone = try await attempt(
            "move \(name) below \(parent ?? "nothing")",
            refused: overlaps ? .alreadyShared : nil
        ) { try await database.save(record) }
        if isDone { oracle.items[name]?.parent = parent }
    }

    private mutating func edit(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        made += 1
        let record = try await database.record(for: id(name))
        record["title"] = "t\(made)"
        try await database.save(record)
        log.append("edit \(name)")
        oracle.items[name]?.title = "t\(made)"
    }

    private mutating func delete(_ names: [String]) async throws {
        guard let name = names.randomElement(using: &random) else { return }
        let (database, recordID) = (database, id(name))
        let isDone = try await attempt(
            "delete \(name)",
            refused: oracle.hasChildren(name) ? .referenceViolation : nil
        ) { try await database.deleteRecord(withID: recordID) }
        guard isDone else { return }
        oracle.items[name] = nil
        oracle.shares = oracle.shares.filter { $0.value.root != name }
    }

    private mutating func share(_ names: [String]) async throws {
        guard oracle.shares.count < 5, let root = names.randomElement(using: &random) else {
            return
        }
        let canWrite = random.chance(70)
        let record = try await database.record(for: id(root))
        made += 1
        let share = CKShare(rootRecord: record, shareID: id("Share-\(made)"))
        share.publicPermission = canWrite ? .readWrite : .readOnly
        let database = database
        let isDone = try await attempt(
            "share \(root) as Share-\(made)",
            refused: oracle.liesInShare(root) || oracle.holdsRoot(root) ? .alreadyShared : nil
        ) {
            let (results, _) = try await database.modifyRecords(
                saving: [record, share],
                deleting: [],
                atomically: false
            )
            _ = try results[share.recordID]?.get()
        }
        if isDone {
            oracle.shares["Share-\(made)"] = TreeOracle.Share(root: root, canWrite: canWrite)
        }
    }

    private mutating func unshare() async throws {
        guard let name = oracle.shares.keys.sorted().randomElement(using: &random) else { return }
        try await database.deleteRecord(withID: id(name))
        log.append("unshare \(name)")
        oracle.shares[name] = nil
    }

    private mutating func accept() async throws {
        guard let name = oracle.shares.keys.sorted().randomElement(using: &random) else { return }
        let guest = Int.random(in: guests.indices, using: &random)
        let share = try await database.record(for: id(name)) as? CKShare
        let url = try #require(share?.url)
        try await guests[guest].accept(try await guests[guest].shareMetadata(for: url))
        log.append("guest \(guest) accepts \(name)")
        oracle.shares[name]?.guests.insert(guest)
    }

    private mutating func leave() async throws {
        let guest = Int.random(in: guests.indices, using: &random)
        let own = oracle.shares.filter { $0.value.guests.contains(guest) }.keys.sorted()
        guard let name = own.randomElement(using: &random) else { return }
        let database = guests[guest].sharedCloudDatabase
        try await database.deleteRecord(withID: id(name, asGuest: true))
        log.append("guest \(guest) leaves \(name)")
        oracle.shares[name]?.guests.remove(guest)
    }

    /// Changes, moves, adds or deletes a record as a guest, through an engine.
    private mutating func changeAsGuest() async throws {
        let guest = Int.random(in: guests.indices, using: &random)
        guard let name = oracle.writable(by: guest).randomElement(using: &random) else { return }
        let app = try await app(of: guest)
        let recordID = id(name, asGuest: true)
        if random.chance(15), !oracle.hasChildren(name) {
            log.append("guest \(guest) deletes \(name)")
            try await app.delete(recordID)
            oracle.items[name] = nil
            return
        }
        let record = try await guests[guest].sharedCloudDatabase.record(for: recordID)
        made += 1
        record["title"] = "g\(made)"
        oracle.items[name]?.title = "g\(made)"
        log.append("guest \(guest) edits \(name)")
        let parents = oracle.writable(by: guest)
            .filter { !oracle.lineage($0).contains(name) }
        if random.chance(40), let parent = parents.randomElement(using: &random) {
            record.setParent(id(parent, asGuest: true))
            oracle.items[name]?.parent = parent
            log.append("and moves it below \(parent)")
        }
        try await app.save(record)
    }
}
