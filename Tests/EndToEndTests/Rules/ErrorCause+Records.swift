import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

extension ErrorCause {
    private static func note(_ name: String = "n") -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
    }

    private static func zone(
        in cloud: Cloud
    ) async throws -> (user: TestCloud.User, database: CKDatabase, zoneID: CKRecordZone.ID) {
        let user = try await cloud.addUser()
        let database = try await cloud.database(of: user)
        let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
        return (user, database, zone.zoneID)
    }

    private static func note(_ name: String, in zoneID: CKRecordZone.ID) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    // MARK: What the client finds

    static let client = [
        ErrorCause(.invalidArguments, "a record twice in one save") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            return await expectCKError(.invalidArguments) {
                try await database.modifyRecords(saving: [note(), note()], deleting: [])
            }
        },
        ErrorCause(.limitExceeded, "more than 400 items") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            return await expectCKError(.limitExceeded) {
                try await database.records(for: (0...400).map { note("\($0)").recordID })
            }
        },
        ErrorCause(.badDatabase, "a zone of the public database") { cloud in
            let device = try await cloud.device(of: try await cloud.addUser())
            return await expectCKError(.badDatabase) {
                try await device.publicCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            }
        },
        ErrorCause(.partialFailure, "items that failed, in the deprecated blocks") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let recordID = CKRecord.ID(recordName: "missing")
            let blocks: any SummingBlocks = DeprecatedBlocks()
            let error = await blocks.fetch(recordID, from: database)
            #expect(error?.code == .partialFailure)
            let items = try #require(error?.partialErrorsByItemID)
            #expect((items[recordID] as? CKError)?.code == .unknownItem)
            #expect(error?.userInfo[CKPartialErrorsByItemIDKey] is [AnyHashable: any Error])
            #expect(error.map { "\($0)".contains("unknownItem (11)") } == true)
            return error
        },
        ErrorCause(.assetFileNotFound, "a file that is gone") { cloud in
            try await save(file: .temporaryDirectory.appending(path: UUID().uuidString), cloud)
        },
        ErrorCause(.assetNotAvailable, "a file that cannot be read") { cloud in
            // A folder exists, but has no bytes.
            try await save(file: .temporaryDirectory, cloud, .assetNotAvailable)
        },
        ErrorCause(.assetFileModified, "a file that changes meanwhile") { cloud in
            let file = URL.temporaryDirectory.appending(path: UUID().uuidString)
            try Data([1]).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let script = ScriptedTransport { request, _ in
                if request.isAbout("assets/upload") { try Data(count: 10).write(to: file) }
                return nil
            }
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user, transport: script.over)
            let record = note()
            record["file"] = CKAsset(fileURL: file)
            return await expectCKError(.assetFileModified) { try await database.save(record) }
        },
    ]

    private static func save(
        file: URL,
        _ cloud: Cloud,
        _ code: CKError.Code = .assetFileNotFound
    ) async throws -> CKError? {
        let database = try await cloud.database(of: try await cloud.addUser())
        let record = note()
        record["file"] = CKAsset(fileURL: file)
        return await expectCKError(code) { try await database.save(record) }
    }

    // MARK: Records

    static let records = [
        ErrorCause(.unknownItem, "a record that is not there") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            return await expectCKError(.unknownItem) {
                try await database.record(for: note().recordID)
            }
        },
        ErrorCause(.serverRecordChanged, "another device was faster") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = note()
            record["title"] = "common"
            try await database.save(record)
            record["title"] = "mine"
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(.staleTags, operation: "records/modify", call: 1)])
            )
            let error = await expectCKError(.serverRecordChanged) {
                try await database.save(record)
            }
            let server = error?.userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
            let ancestor = error?.userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
            let client = error?.userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
            #expect(server?.recordChangeTag != record.recordChangeTag)
            #expect(server?["title"] == "common" && ancestor?["title"] == "common")
            #expect(client === record)
            return error
        },
        ErrorCause(.batchRequestFailed, "another item of an atomic batch") { cloud in
            let (_, database, zoneID) = try await zone(in: cloud)
            let fault = Fault.itemError(.accessDenied, item: 0)
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(fault, operation: "records/modify", call: 1)])
            )
            let (culprit, other) = (note("a", in: zoneID), note("b", in: zoneID))
            let (results, _) = try await database.modifyRecords(
                saving: [culprit, other],
                deleting: []
            )
            await expectCKError(.permissionFailure) {
                try #require(results[culprit.recordID]).get()
            }
            return await expectCKError(.batchRequestFailed) {
                try #require(results[other.recordID]).get()
            }
        },
        ErrorCause(.permissionFailure, "another user's public record") { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            try await ada.publicCloudDatabase.save(note())
            let theirs = try await bob.publicCloudDatabase.record(for: note().recordID)
            theirs["title"] = "theirs"
            return await expectCKError(.permissionFailure) {
                try await bob.publicCloudDatabase.save(theirs)
            }
        },
        ErrorCause(.referenceViolation, "a parent that is not there") { cloud in
            let (_, database, zoneID) = try await zone(in: cloud)
            let child = note("child", in: zoneID)
            child.setParent(CKRecord.ID(recordName: "parent", zoneID: zoneID))
            return await expectCKError(.referenceViolation) { try await database.save(child) }
        },
    ]

    // MARK: Zones

    static let zones = [
        ErrorCause(.zoneNotFound, "a zone that never was") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let zoneID = CKRecordZone.ID(zoneName: "Nowhere")
            let error = await expectCKError(.zoneNotFound) {
                try await database.save(note("n", in: zoneID))
            }
            #expect(error?.userInfo[CKErrorUserDidResetEncryptedDataKey] == nil)
            return error
        },
        ErrorCause(.zoneNotFound, "a reset of the encrypted data") { cloud in
            let (user, database, zoneID) = try await zone(in: cloud)
            try await cloud.resetEncryptedData(of: user)
            let error = await expectCKError(.zoneNotFound) {
                try await database.save(note("n", in: zoneID))
            }
            #expect(error?.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
            return error
        },
        ErrorCause(.userDeletedZone, "the user deleted the app's data") { cloud in
            let (user, database, zoneID) = try await zone(in: cloud)
            try await cloud.purgeZones(of: user)
            let error = await expectCKError(.userDeletedZone) {
                try await database.save(note("n", in: zoneID))
            }
            #expect(error?.userInfo[CKErrorUserDidResetEncryptedDataKey] == nil)
            return error
        },
        ErrorCause(.changeTokenExpired, "tokens that grew too old") { cloud in
            let (_, database, zoneID) = try await zone(in: cloud)
            let token = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
                .changeToken
            try await cloud.expireChangeTokens()
            return await expectCKError(.changeTokenExpired) {
                try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            }
        },
    ]
}

/// Fetches a record with the older block, which receives one error for all items.
private protocol SummingBlocks {
    func fetch(_ recordID: CKRecord.ID, from database: CKDatabase) async -> CKError?
}

private struct DeprecatedBlocks: SummingBlocks {
    @available(*, deprecated)
    func fetch(_ recordID: CKRecord.ID, from database: CKDatabase) async -> CKError? {
        await withCheckedContinuation { continuation in
            let operation = CKFetchRecordsOperation(recordIDs: [recordID])
            operation.fetchRecordsCompletionBlock = { _, error in
                continuation.resume(returning: error as? CKError)
            }
            database.add(operation)
        }
    }
}
