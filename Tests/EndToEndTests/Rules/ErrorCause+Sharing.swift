import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

extension ErrorCause {
    /// Returns a list that Ada shares without participants.
    private static func list(
        of ada: CKContainer,
        inviting people: [CKShare.Participant] = []
    ) async throws -> (root: CKRecord, share: CKShare) {
        let database = ada.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
        let root = CKRecord(
            recordType: "List",
            recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID)
        )
        let share = CKShare(rootRecord: root)
        for person in people { share.addParticipant(person) }
        let (results, _) = try await database.modifyRecords(saving: [root, share], deleting: [])
        for result in results.values { _ = try result.get() }
        return (root, share)
    }

    private static func people(
        _ addresses: [String],
        _ device: CKContainer
    ) async throws -> [CKShare.Participant] {
        let found = try await device.shareParticipants(forEmailAddresses: addresses)
        return try addresses.map { try #require(found[$0]).get() }
    }

    /// Returns the error of the share of a record that cannot be shared.
    private static func refusal(
        _ code: CKError.Code,
        ofSharing record: CKRecord,
        in database: CKDatabase
    ) async throws -> CKError? {
        let share = CKShare(rootRecord: record)
        let (results, _) = try await database.modifyRecords(
            saving: [record, share],
            deleting: [],
            atomically: false
        )
        return await expectCKError(code) { try #require(results[share.recordID]).get() }
    }

    static let sharing = [
        ErrorCause(.alreadyShared, "a second share of a record") { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let database = ada.privateCloudDatabase
            let (root, _) = try await list(of: ada)
            let fresh = try await database.record(for: root.recordID)
            return try await refusal(.alreadyShared, ofSharing: fresh, in: database)
        },
        ErrorCause(.alreadyShared, "a share of a record below a shared one") { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let database = ada.privateCloudDatabase
            let (root, _) = try await list(of: ada)
            let entry = CKRecord(
                recordType: "Entry",
                recordID: CKRecord.ID(recordName: "entry", zoneID: root.recordID.zoneID)
            )
            entry.setParent(root)
            try await database.save(entry)
            return try await refusal(.alreadyShared, ofSharing: entry, in: database)
        },
        ErrorCause(.alreadyShared, "a shared record that goes below another") { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let database = ada.privateCloudDatabase
            let (root, _) = try await list(of: ada)
            let other = CKRecord(
                recordType: "List",
                recordID: CKRecord.ID(recordName: "other", zoneID: root.recordID.zoneID)
            )
            let share = CKShare(rootRecord: other)
            let (results, _) = try await database.modifyRecords(
                saving: [other, share],
                deleting: []
            )
            for result in results.values { _ = try result.get() }
            other.setParent(root)
            return await expectCKError(.alreadyShared) { try await database.save(other) }
        },
        ErrorCause(.serverRejectedRequest, "a share in a zone that is shared") { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let database = ada.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Whole"))
            try await database.save(CKShare(recordZoneID: zone.zoneID))
            let record = CKRecord(
                recordType: "List",
                recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID)
            )
            try await database.save(record)
            return try await refusal(.serverRejectedRequest, ofSharing: record, in: database)
        },
        ErrorCause(.tooManyParticipants, "more than 100 with the owner") { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let (_, share) = try await list(of: ada)
            for person in try await people((0..<100).map { "p\($0)@example.com" }, ada) {
                share.addParticipant(person)
            }
            return await expectCKError(.tooManyParticipants) {
                try await ada.privateCloudDatabase.save(share)
            }
        },
        ErrorCause(
            .participantMayNeedVerification,
            "who comes may be meant by an address that no account has"
        ) { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let invited = try await people(["bob@example.com"], ada)
            let (_, share) = try await list(of: ada, inviting: invited)
            let url = try #require(share.url)
            return await expectCKError(.participantMayNeedVerification) {
                try await bob.shareMetadata(for: url)
            }
        },
    ]
}
