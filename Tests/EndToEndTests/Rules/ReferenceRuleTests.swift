import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Rules: references and tokens")
struct ReferenceRuleTests {
    private let zone = CKRecordZone(zoneName: "Z")

    private func record(_ name: String, _ zoneID: CKRecordZone.ID? = nil) -> CKRecord {
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID ?? zone.zoneID)
        return CKRecord(recordType: "Note", recordID: recordID)
    }

    private func run(
        _ fixture: CloudFixture,
        _ body: @Sendable (CKDatabase) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(zone)
            try await body(database)
        }
    }

    private func exists(_ record: CKRecord, in database: CKDatabase) async throws -> Bool {
        let results = try await database.records(for: [record.recordID])
        return (try? results[record.recordID]?.get()) != nil
    }

    // MARK: References

    @Test(
        "A reference with an action stays in its zone",
        arguments: CloudFixture.allCases
    )
    func zones(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let target = try await database.save(record("target", .default))
            let source = record("source")
            source["target"] = CKRecord.Reference(record: target, action: .deleteSelf)
            await expectCKError(.invalidArguments) { try await database.save(source) }
        }
    }

    @Test(
        "Without an action the target may be missing, and its deletion leaves the reference",
        arguments: CloudFixture.allCases
    )
    func dangling(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let source = record("source")
            let target = record("target")
            source["target"] = CKRecord.Reference(record: target, action: .none)
            try await database.save(source)
            try await database.save(target)
            try await database.deleteRecord(withID: target.recordID)
            let fetched = try await database.record(for: source.recordID)
            let reference = fetched["target"] as? CKRecord.Reference
            #expect(reference?.recordID == target.recordID)
        }
    }

    @Test(
        "deleteSelf deletes what refers to the target through all levels, round circles too",
        arguments: CloudFixture.allCases
    )
    func cascade(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let root = record("root")
            let records = ["a", "b", "c"].map { record($0) }
            func refer(_ source: CKRecord, _ target: CKRecord, _ key: String) {
                source[key] = CKRecord.Reference(record: target, action: .deleteSelf)
            }
            refer(records[0], root, "up")
            refer(records[1], records[0], "up")
            refer(records[2], records[1], "up")
            refer(records[0], records[2], "round")
            let bystander = record("bystander")
            refer(bystander, record("elsewhere"), "up")
            _ = try await database.modifyRecords(
                saving: [root, bystander] + records,
                deleting: []
            )
            let token = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
                .changeToken
            let (_, deletions) = try await database.modifyRecords(
                saving: [],
                deleting: [root.recordID]
            )
            // The response to the deletion names the requested records; the feed names all.
            #expect(Array(deletions.keys) == [root.recordID])
            let changes = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: token
            )
            #expect(Set(changes.deletions.map(\.recordID.recordName)) == ["root", "a", "b", "c"])
            #expect(try await exists(bystander, in: database))
        }
    }

    @Test(
        "In the default zone deleteSelf deletes too, sooner or later",
        .timeLimit(.minutes(10)),
        arguments: CloudFixture.allCases
    )
    func defaultZone(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let target = try await database.save(record("target", .default))
            let source = record("source", .default)
            source["target"] = CKRecord.Reference(record: target, action: .deleteSelf)
            try await database.save(source)
            try await database.deleteRecord(withID: target.recordID)
            while try await exists(source, in: database) { await Task.yield() }
        }
    }

    @Test(
        "With several deleteSelf references a record goes with the first target that goes",
        arguments: CloudFixture.allCases
    )
    func severalTargets(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let targets = [record("t1"), record("t2")]
            let source = record("source")
            for (index, target) in targets.enumerated() {
                source["r\(index)"] = CKRecord.Reference(record: target, action: .deleteSelf)
            }
            _ = try await database.modifyRecords(saving: targets + [source], deleting: [])
            try await database.deleteRecord(withID: targets[1].recordID)
            #expect(try await !exists(source, in: database))
            #expect(try await exists(targets[0], in: database))
        }
    }

    @Test(
        "A parent must be there or come with the request, and stays while it has children",
        arguments: CloudFixture.allCases
    )
    func parents(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let parent = record("parent")
            let child = record("child")
            child.setParent(parent)
            await expectCKError(.referenceViolation) { try await database.save(child) }
            let (saved, _) = try await database.modifyRecords(
                saving: [child, parent],
                deleting: []
            )
            for result in saved.values { _ = try result.get() }
            await expectCKError(.referenceViolation) {
                try await database.deleteRecord(withID: parent.recordID)
            }
            #expect(try await exists(parent, in: database))
            let (_, deleted) = try await database.modifyRecords(
                saving: [],
                deleting: [parent.recordID, child.recordID]
            )
            for result in deleted.values { try result.get() }
            #expect(try await !exists(child, in: database))
        }
    }

    @Test(
        "Deleting a parent's child does not delete the parent: it does not cascade",
        arguments: CloudFixture.allCases
    )
    func parentsKeep(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let parent = record("parent")
            let child = record("child")
            child.setParent(parent)
            _ = try await database.modifyRecords(saving: [parent, child], deleting: [])
            await expectCKError(.referenceViolation) {
                try await database.deleteRecord(withID: parent.recordID)
            }
            let kept = try await database.record(for: child.recordID)
            #expect(kept.parent?.recordID == parent.recordID)
            try await database.deleteRecord(withID: child.recordID)
            #expect(try await exists(parent, in: database))
        }
    }

    @Test(
        "A parent may come after its child in the request, atomic or not",
        arguments: CloudFixture.allCases,
        [true, false]
    )
    func lateParent(fixture: CloudFixture, isAtomic: Bool) async throws {
        try await run(fixture) { database in
            let parent = record("parent")
            let child = record("child")
            child.setParent(parent)
            let (saved, _) = try await database.modifyRecords(
                saving: [child, parent],
                deleting: [],
                atomically: isAtomic
            )
            for result in saved.values { _ = try result.get() }
            let fetched = try await database.record(for: child.recordID)
            #expect(fetched.parent?.recordID == parent.recordID)
        }
    }

    @Test(
        "In a call of 400 items parents may stand far behind their children, saved or deleted",
        arguments: CloudFixture.allCases,
        [true, false]
    )
    func manyParents(fixture: CloudFixture, isAtomic: Bool) async throws {
        try await run(fixture) { database in
            let roots = (0..<20).map { record("root\($0)") }
            let parents = (0..<180).map { number in
                let parent = record("parent\(number)")
                parent.setParent(roots[number % roots.count])
                return parent
            }
            let children = (0..<200).map { number in
                let child = record("child\(number)")
                child.setParent(parents[number % parents.count])
                return child
            }
            let (saved, _) = try await database.modifyRecords(
                saving: children + parents + roots,
                deleting: [],
                atomically: isAtomic
            )
            #expect(saved.count == 400)
            for result in saved.values { _ = try result.get() }
            let fetched = try await database.record(for: children[150].recordID)
            #expect(fetched.parent?.recordID == parents[150].recordID)
            // Atomicity applies to each request of 200: there children must be first.
            let doomed = isAtomic ? children + parents + roots : roots + parents + children
            let (_, deleted) = try await database.modifyRecords(
                saving: [],
                deleting: doomed.map(\.recordID),
                atomically: isAtomic
            )
            #expect(deleted.count == 400)
            for result in deleted.values { try result.get() }
            #expect(try await !exists(roots[0], in: database))
        }
    }

    @Test(
        "The child of a record for which there is no room fails with it: quotaExceeded for both",
        arguments: CloudFixture.allCases
    )
    func childOfLargeRecord(fixture: CloudFixture) async throws {
        let configuration = ServiceConfiguration(userQuotaBytes: 10_000)
        try await fixture.run(configuration: configuration) { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(zone)
            let parent = record("parent")
            parent["text"] = String(repeating: "x", count: 20_000)
            let child = record("child")
            child.setParent(parent)
            let (saved, _) = try await database.modifyRecords(
                saving: [parent, child],
                deleting: [],
                atomically: false
            )
            for record in [parent, child] {
                await expectCKError(.quotaExceeded) {
                    try #require(saved[record.recordID]).get()
                }
                #expect(try await !exists(record, in: database))
            }
        }
    }

    @Test(
        "The child of a record whose own parent is missing fails with it: internalError",
        arguments: CloudFixture.allCases
    )
    func childOfOrphan(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            let parent = record("parent")
            parent.setParent(record("missing"))
            let child = record("child")
            child.setParent(parent)
            let (saved, _) = try await database.modifyRecords(
                saving: [parent, child],
                deleting: [],
                atomically: false
            )
            await expectCKError(.referenceViolation) {
                try #require(saved[parent.recordID]).get()
            }
            await expectCKError(.internalError) { try #require(saved[child.recordID]).get() }
            #expect(try await !exists(child, in: database))
        }
    }

    // MARK: Tokens

    @Test(
        "A first look reports what is there, and no deletions",
        arguments: CloudFixture.allCases
    )
    func firstLook(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            try await database.save(record("kept"))
            try await database.save(record("gone"))
            try await database.deleteRecord(withID: record("gone").recordID)
            let changes = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: nil
            )
            #expect(changes.modificationResultsByID.keys.map(\.recordName) == ["kept"])
        }
    }

    @Test(
        "A token is good for what was delivered up to it, page by page",
        arguments: CloudFixture.allCases
    )
    func pages(fixture: CloudFixture) async throws {
        try await run(fixture) { database in
            _ = try await database.modifyRecords(
                saving: (0..<5).map { record("n\($0)") },
                deleting: []
            )
            var token: CKServerChangeToken?
            var names: [String] = []
            var moreComing = true
            while moreComing {
                // Each token is archived, as by an app that ends here and reads it again.
                let data = try token.map {
                    try NSKeyedArchiver.archivedData(
                        withRootObject: $0,
                        requiringSecureCoding: true
                    )
                }
                let kept = try data.flatMap {
                    try NSKeyedUnarchiver.unarchivedObject(
                        ofClass: CKServerChangeToken.self,
                        from: $0
                    )
                }
                let page = try await database.recordZoneChanges(
                    inZoneWith: zone.zoneID,
                    since: kept,
                    resultsLimit: 2
                )
                names += page.modificationResultsByID.keys.map(\.recordName)
                (token, moreComing) = (page.changeToken, page.moreComing)
            }
            #expect(names.sorted() == ["n0", "n1", "n2", "n3", "n4"])
            let news = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: token
            )
            #expect(news.modificationResultsByID.isEmpty)
        }
    }

    @Test(
        "A database's token is none of a zone, nor one user's another's",
        arguments: CloudFixture.allCases
    )
    func foreignTokens(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.database(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.database(of: try await cloud.addUser("Bob"))
            for database in [ada, bob] { try await database.save(zone) }
            let databaseToken = try await ada.databaseChanges(since: nil).changeToken
            let zoneToken = try await ada.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
                .changeToken
            for (database, token) in [(ada, databaseToken), (bob, zoneToken)] {
                let error = await #expect(throws: CKError.self) {
                    try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
                }
                #expect([.changeTokenExpired, .invalidArguments].contains(error?.code))
            }
            let error = await #expect(throws: CKError.self) {
                try await ada.databaseChanges(since: zoneToken)
            }
            #expect([.changeTokenExpired, .invalidArguments].contains(error?.code))
        }
    }
}
