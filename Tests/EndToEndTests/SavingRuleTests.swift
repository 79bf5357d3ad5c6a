import CloudKit
import CloudKitTesting
import Support
import Testing

/// The table of save policies, cell by cell.
@Suite("Saving: tags and policies")
struct SavingRuleTests {
    static let zone = CKRecordZone(zoneName: "Notes")
    static let recordID = CKRecord.ID(recordName: "n1", zoneID: zone.zoneID)

    private func note(_ title: String = "new") -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: Self.recordID)
        record["title"] = title
        return record
    }

    private func save(
        _ record: CKRecord,
        _ policy: CKModifyRecordsOperation.RecordSavePolicy,
        _ database: CKDatabase
    ) async throws -> CKRecord {
        let (results, _) = try await database.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: policy
        )
        return try #require(results[record.recordID]).get()
    }

    private func run(
        _ fixture: CloudFixture,
        _ body: @Sendable (CKDatabase, CKDatabase) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let first = try await cloud.database(of: user)
            try await first.save(Self.zone)
            try await body(first, try await cloud.database(of: user))
        }
    }

    @Test(
        "No tag and no server record: created under every policy",
        arguments: CloudFixture.allCases,
        [
            CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged, .changedKeys,
            .allKeys,
        ]
    )
    func created(
        _ fixture: CloudFixture,
        _ policy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws {
        try await run(fixture) { database, _ in
            let record = note()
            let saved = try await save(record, policy, database)
            #expect(saved === record && record.recordChangeTag != nil)
            #expect(record.changedKeys().isEmpty && record.creationDate != nil)
        }
    }

    @Test(
        "No tag and a server record: a conflict, or written over",
        arguments: CloudFixture.allCases
    )
    func exists(fixture: CloudFixture) async throws {
        try await run(fixture) { first, second in
            try await first.save(note("old"))
            let error = await expectCKError(.serverRecordChanged) {
                try await save(note(), .ifServerRecordUnchanged, second)
            }
            #expect(error?.serverRecord?["title"] == "old")
            #expect(error?.clientRecord?["title"] == "new")
            #expect(error?.ancestorRecord?.allKeys() == [])
            _ = try await save(note("a"), .changedKeys, second)
            _ = try await save(note("b"), .allKeys, second)
            #expect(try await first.record(for: Self.recordID)["title"] == "b")
        }
    }

    @Test(
        "A stale tag: a conflict, or written over; the client's record stays as it is",
        arguments: CloudFixture.allCases
    )
    func stale(fixture: CloudFixture) async throws {
        try await run(fixture) { first, second in
            let mine = try await first.save(note("old"))
            let theirs = try await second.record(for: Self.recordID)
            theirs["title"] = "theirs"
            try await second.save(theirs)
            mine["title"] = "mine"
            let tag = mine.recordChangeTag
            let error = await expectCKError(.serverRecordChanged) {
                try await save(mine, .ifServerRecordUnchanged, first)
            }
            #expect(mine.recordChangeTag == tag && mine.changedKeys() == ["title"])
            #expect(error?.ancestorRecord?["title"] == "old")
            #expect(error?.serverRecord?["title"] == "theirs")
            _ = try await save(mine, .changedKeys, first)
            #expect(try await second.record(for: Self.recordID)["title"] == "mine")
        }
    }

    @Test(
        "changedKeys sends what changed, allKeys all that the record holds",
        arguments: CloudFixture.allCases
    )
    func keys(fixture: CloudFixture) async throws {
        try await run(fixture) { first, second in
            let record = note("a")
            record["count"] = 1
            let mine = try await first.save(record)
            let theirs = try await second.record(for: Self.recordID)
            theirs["count"] = 2
            try await second.save(theirs)
            mine["title"] = "b"
            _ = try await save(mine, .changedKeys, first)
            #expect(try await second.record(for: Self.recordID)["count"] == 2)
            mine["title"] = "c"
            _ = try await save(mine, .allKeys, first)
            #expect(try await second.record(for: Self.recordID)["count"] == 1)
        }
    }

    @Test("A tag of a record that was deleted: unknownItem", arguments: CloudFixture.allCases)
    func deleted(fixture: CloudFixture) async throws {
        try await run(fixture) { first, second in
            let mine = try await first.save(note())
            try await second.deleteRecord(withID: Self.recordID)
            mine["title"] = "again"
            await expectCKError(.unknownItem) {
                try await save(mine, .ifServerRecordUnchanged, first)
            }
        }
    }

    @Test(
        "A missing zone: zoneNotFound under every policy, and for reading",
        arguments: CloudFixture.allCases
    )
    func zone(fixture: CloudFixture) async throws {
        try await run(fixture) { database, _ in
            let elsewhere = CKRecord.ID(
                recordName: "n",
                zoneID: CKRecordZone.ID(zoneName: "Missing")
            )
            for policy in [
                CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged, .changedKeys,
                .allKeys,
            ] {
                await expectCKError(.zoneNotFound) {
                    try await save(
                        CKRecord(recordType: "Note", recordID: elsewhere),
                        policy,
                        database
                    )
                }
            }
            await expectCKError(.zoneNotFound) { try await database.record(for: elsewhere) }
            await expectCKError(.zoneNotFound) {
                try await database.recordZone(for: elsewhere.zoneID)
            }
        }
    }

    @Test(
        "Deleting what is not there succeeds, records and zones",
        arguments: CloudFixture.allCases
    )
    func missing(fixture: CloudFixture) async throws {
        try await run(fixture) { database, _ in
            try await database.deleteRecord(withID: Self.recordID)
            try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Missing"))
        }
    }

    @Test(
        "In an atomic zone one failure keeps all others from being stored",
        arguments: CloudFixture.allCases
    )
    func atomic(fixture: CloudFixture) async throws {
        try await run(fixture) { first, second in
            try await first.save(note("old"))
            let other = CKRecord.ID(recordName: "n2", zoneID: Self.zone.zoneID)
            let records = [note("new"), CKRecord(recordType: "Note", recordID: other)]
            let (results, _) = try await second.modifyRecords(saving: records, deleting: [])
            await expectCKError(.serverRecordChanged) {
                try #require(results[Self.recordID]).get()
            }
            await expectCKError(.batchRequestFailed) { try #require(results[other]).get() }
            await expectCKError(.unknownItem) { try await first.record(for: other) }
            let (loose, _) = try await second.modifyRecords(
                saving: [note("new"), CKRecord(recordType: "Note", recordID: other)],
                deleting: [],
                atomically: false
            )
            _ = try #require(loose[other]).get()
        }
    }

    @Test(
        "More than 400 items and the same item twice are refused before anything is sent",
        arguments: CloudFixture.allCases
    )
    func limits(fixture: CloudFixture) async throws {
        try await run(fixture) { database, _ in
            await expectCKError(.limitExceeded) {
                try await database.modifyRecords(
                    saving: (0..<401).map { _ in CKRecord(recordType: "Note") },
                    deleting: []
                )
            }
            await expectCKError(.invalidArguments) {
                try await database.modifyRecords(saving: [note(), note()], deleting: [])
            }
            await expectCKError(.invalidArguments) {
                try await database.modifyRecords(saving: [note()], deleting: [Self.recordID])
            }
        }
    }

    @Test(
        "desiredKeys: nil is everything, none system fields only, and absent is not cleared",
        arguments: CloudFixture.allCases
    )
    func desiredKeys(fixture: CloudFixture) async throws {
        try await run(fixture) { first, second in
            let record = note("a")
            record["count"] = 1
            try await first.save(record)
            let all = try await second.records(for: [Self.recordID])
            #expect(try all[Self.recordID]?.get().allKeys() == ["count", "title"])
            let none = try await second.records(for: [Self.recordID], desiredKeys: [])
            let partial = try #require(try none[Self.recordID]?.get())
            #expect(partial.allKeys().isEmpty && partial.changedKeys().isEmpty)
            partial["count"] = 2
            _ = try await save(partial, .allKeys, second)
            let whole = try await first.record(for: Self.recordID)
            #expect(whole["title"] == "a" && whole["count"] == 2)
        }
    }

    @Test(
        "A parent that was removed is gone from the server's copy",
        arguments: CloudFixture.allCases
    )
    func parent(fixture: CloudFixture) async throws {
        try await run(fixture) { first, second in
            let root = CKRecord(
                recordType: "Note",
                recordID: CKRecord.ID(recordName: "root", zoneID: Self.recordID.zoneID)
            )
            let child = note("a")
            child.setParent(root)
            _ = try await first.modifyRecords(saving: [root, child], deleting: [])
            let found = try await second.record(for: Self.recordID)
            #expect(found.parent?.recordID == root.recordID)
            found["title"] = "b"
            try await second.save(found)
            #expect(try await first.record(for: Self.recordID).parent != nil)
            found.parent = nil
            try await second.save(found)
            let orphan = try await first.record(for: Self.recordID)
            #expect(orphan.parent == nil)
            #expect(orphan["title"] == "b")
            try await first.deleteRecord(withID: root.recordID)
        }
    }
}
