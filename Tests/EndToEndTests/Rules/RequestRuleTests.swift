import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Rules: requests")
struct RequestRuleTests {
    private let zone = CKRecordZone(zoneName: "Z")

    private func record(_ name: String, _ zoneID: CKRecordZone.ID? = nil) -> CKRecord {
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID ?? zone.zoneID)
        return CKRecord(recordType: "Note", recordID: recordID)
    }

    private func run(
        _ fixture: CloudFixture,
        _ body: @Sendable (CKDatabase, CKDatabase) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let first = try await cloud.database(of: user)
            try await first.save(zone)
            try await body(first, try await cloud.database(of: user))
        }
    }

    // MARK: Saving

    @Test(
        "A save without changes goes to the server and succeeds",
        arguments: CloudFixture.allCases
    )
    func unchanged(fixture: CloudFixture) async throws {
        try await run(fixture) { database, _ in
            let saved = try await database.save(record("n"))
            let again = try await database.save(saved)
            #expect(again === saved && again.recordChangeTag != nil)
        }
    }

    @Test(
        "To win a conflict the wanted values go onto the server's record",
        arguments: CloudFixture.allCases
    )
    func winning(fixture: CloudFixture) async throws {
        try await run(fixture) { phone, laptop in
            let mine = try await phone.save(record("n"))
            let theirs = try await laptop.record(for: mine.recordID)
            theirs["title"] = "theirs"
            try await laptop.save(theirs)
            mine["title"] = "mine"
            let error = await expectCKError(.serverRecordChanged) { try await phone.save(mine) }
            // The same records conflict again; only the server's record has the new tag.
            await expectCKError(.serverRecordChanged) { try await phone.save(mine) }
            let server = try #require(error?.serverRecord)
            server["title"] = "mine"
            try await phone.save(server)
            #expect(try await laptop.record(for: mine.recordID)["title"] == "mine")
        }
    }

    @Test(
        "changedKeys and allKeys bring back a record that was deleted",
        arguments: CloudFixture.allCases
    )
    func revival(fixture: CloudFixture) async throws {
        try await run(fixture) { phone, laptop in
            for policy in [CKModifyRecordsOperation.RecordSavePolicy.changedKeys, .allKeys] {
                let mine = try await phone.save(record("n-\(policy.rawValue)"))
                try await laptop.deleteRecord(withID: mine.recordID)
                mine["title"] = "again"
                let (results, _) = try await phone.modifyRecords(
                    saving: [mine],
                    deleting: [],
                    savePolicy: policy
                )
                _ = try #require(results[mine.recordID]).get()
                #expect(try await laptop.record(for: mine.recordID)["title"] == "again")
            }
        }
    }

    // MARK: Atomicity

    @Test("An operation is atomic and saves onto the version, unless it is instructed otherwise")
    func defaults() {
        let operation = CKModifyRecordsOperation(recordsToSave: [record("n")])
        #expect(operation.isAtomic && operation.savePolicy == .ifServerRecordUnchanged)
    }

    @Test(
        "The default zone is never atomic: what can be saved is",
        arguments: CloudFixture.allCases
    )
    func defaultZone(fixture: CloudFixture) async throws {
        try await run(fixture) { phone, laptop in
            try await phone.save(record("old", .default))
            let (results, _) = try await laptop.modifyRecords(
                saving: [record("old", .default), record("new", .default)],
                deleting: [],
                atomically: true
            )
            let names = results.compactMap { (try? $0.value.get())?.recordID.recordName }
            #expect(names == ["new"])
            _ = try await phone.record(for: CKRecord.ID(recordName: "new"))
        }
    }

    @Test(
        "The public database is never atomic: what can be saved is",
        arguments: CloudFixture.allCases
    )
    func publicDatabase(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.device(of: user).publicCloudDatabase
            let laptop = try await cloud.device(of: user).publicCloudDatabase
            try await phone.save(record("old", .default))
            let (results, _) = try await laptop.modifyRecords(
                saving: [record("old", .default), record("new", .default)],
                deleting: [],
                atomically: true
            )
            await expectCKError(.serverRecordChanged) {
                try #require(results[CKRecord.ID(recordName: "old")]).get()
            }
            _ = try await phone.record(for: CKRecord.ID(recordName: "new"))
        }
    }

    @Test(
        "A request over two zones can succeed in one and fail in the other",
        arguments: CloudFixture.allCases
    )
    func twoZones(fixture: CloudFixture) async throws {
        try await run(fixture) { phone, laptop in
            let other = try await phone.save(CKRecordZone(zoneName: "Other")).zoneID
            try await phone.save(record("old"))
            let (results, deletions) = try await laptop.modifyRecords(
                saving: [record("old"), record("new"), record("new", other)],
                deleting: [record("gone").recordID]
            )
            func code(_ result: Result<CKRecord, any Error>?) -> CKError.Code? {
                if case .failure(let error as CKError)? = result { error.code } else { nil }
            }
            #expect(code(results[record("old").recordID]) == .serverRecordChanged)
            #expect(code(results[record("new").recordID]) == .batchRequestFailed)
            #expect(throws: CKError.self) { try deletions[record("gone").recordID]?.get() }
            #expect(try results[record("new", other).recordID]?.get().recordChangeTag != nil)
            _ = try await phone.record(for: record("new", other).recordID)
            await expectCKError(.unknownItem) {
                try await phone.record(for: record("new").recordID)
            }
        }
    }

    @Test(
        "In a zone that failed deletions are not carried out either",
        arguments: CloudFixture.allCases
    )
    func keptDeletions(fixture: CloudFixture) async throws {
        try await run(fixture) { phone, laptop in
            try await phone.save(record("old"))
            try await phone.save(record("kept"))
            let (_, deletions) = try await laptop.modifyRecords(
                saving: [record("old")],
                deleting: [record("kept").recordID]
            )
            await expectCKError(.batchRequestFailed) {
                try #require(deletions[record("kept").recordID]).get()
            }
            _ = try await phone.record(for: record("kept").recordID)
        }
    }

    @Test(
        "Calls for one item throw its error, calls for many give each item its result",
        arguments: CloudFixture.allCases
    )
    func errors(fixture: CloudFixture) async throws {
        try await run(fixture) { phone, laptop in
            let missing = record("missing").recordID
            await expectCKError(.unknownItem) { try await phone.record(for: missing) }
            let results = try await phone.records(for: [missing])
            await expectCKError(.unknownItem) { try #require(results[missing]).get() }

            let taken = try await phone.save(record("taken")).recordID
            await expectCKError(.serverRecordChanged) { try await laptop.save(record("taken")) }
            let parent = record("parent")
            let child = record("child")
            child.setParent(parent)
            let (made, _) = try await phone.modifyRecords(saving: [parent, child], deleting: [])
            for result in made.values { _ = try result.get() }
            await expectCKError(.referenceViolation) {
                try await laptop.deleteRecord(withID: parent.recordID)
            }
            let (saved, deleted) = try await laptop.modifyRecords(
                saving: [record("taken"), record("new")],
                deleting: [parent.recordID],
                atomically: false
            )
            await expectCKError(.serverRecordChanged) { try #require(saved[taken]).get() }
            _ = try #require(saved[record("new").recordID]).get()
            await expectCKError(.referenceViolation) {
                try #require(deleted[parent.recordID]).get()
            }
        }
    }

    // MARK: Reading

    @Test(
        "A result has an entry for every ID that was asked for, and none needs no request",
        arguments: CloudFixture.allCases
    )
    func entries(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let script = ScriptedTransport()
            let database = try await cloud.database(
                of: try await cloud.addUser(),
                transport: script.over
            )
            try await database.save(record("n", .default))
            let recordIDs = ["n", "m"].map { CKRecord.ID(recordName: $0) }
            #expect(Set(try await database.records(for: recordIDs).keys) == Set(recordIDs))
            let before = script.requests.count
            #expect(try await database.records(for: []).isEmpty)
            #expect(script.requests.count == before)
        }
    }

    @Test(
        "desiredKeys that a type does not have are passed over, and saving a part is safe",
        arguments: CloudFixture.allCases
    )
    func desiredKeys(fixture: CloudFixture) async throws {
        try await run(fixture) { phone, laptop in
            let whole = record("n")
            whole["a"] = 1
            whole["b"] = 2
            try await phone.save(whole)
            for policy in [
                CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged, .changedKeys,
                .allKeys,
            ] {
                let results = try await laptop.records(
                    for: [whole.recordID],
                    desiredKeys: ["a", "nowhere"]
                )
                let part = try #require(results[whole.recordID]).get()
                #expect(part.allKeys() == ["a"] && part.changedKeys() == [])
                part["a"] = (part["a"] as? Int ?? 0) + 1
                let (saved, _) = try await laptop.modifyRecords(
                    saving: [part],
                    deleting: [],
                    savePolicy: policy
                )
                _ = try #require(saved[part.recordID]).get()
            }
            let fetched = try await phone.record(for: whole.recordID)
            #expect(fetched["a"] == 4 && fetched["b"] == 2)
        }
    }
}
