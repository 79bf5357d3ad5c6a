// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

@Suite("Calls of CKShare")
struct CKShareCalls {
    @Test("Shares are made of a root or of a zone, and titled in all usual forms")
    func shares() {
        let zoneID = CKRecordZone.ID(zoneName: "Lists")
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zoneID))
        let share = CKShare(rootRecord: root)
        let named = CKShare(
            rootRecord: CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zoneID)),
            shareID: CKRecord.ID(recordName: "share", zoneID: zoneID)
        )
        let zone = CKShare(recordZoneID: zoneID)
        #expect(named.recordID.recordName == "share" && named.recordType == "cloudkit.share")
        #expect(zone.recordID.recordName == CKRecordNameZoneWideShare)
        share[CKShare.SystemFieldKey.title] = "Shopping"
        share[CKShare.SystemFieldKey.title] = "Shopping" as CKRecordValue
        share[CKShare.SystemFieldKey.shareType] = "com.example.list" as CKRecordValue
        share[CKShare.SystemFieldKey.thumbnailImageData] = Data([1])
        #expect(share[CKShare.SystemFieldKey.title] as? String == "Shopping")
        share.publicPermission = .readWrite
        #expect(share.publicPermission == .readWrite && share.url == nil)
        #expect(share.owner.role == .owner)
        #expect(share.currentUserParticipant?.acceptanceStatus == .accepted)
        let records: [CKRecord] = [root, share]
        #expect(records.compactMap { $0 as? CKShare }.count == 1)
    }

    func participants(_ share: CKShare, _ participant: CKShare.Participant) {
        participant.role = .privateUser
        participant.permission = .readWrite
        share.addParticipant(participant)
        for participant in share.participants {
            switch (participant.role, participant.permission, participant.acceptanceStatus) {
            case (.owner, _, _): continue
            case (.privateUser, .readOnly, .pending): share.removeParticipant(participant)
            case (.publicUser, .none, .removed), (.unknown, .unknown, .unknown): break
            default: break
            }
        }
        _ = share.participants.first { $0 == share.owner }
    }

    func metadata(_ metadata: CKShare.Metadata) {
        _ = (metadata.containerIdentifier, metadata.share.recordID)
        _ = (metadata.hierarchicalRootRecordID, metadata.rootRecord)
        _ = (metadata.participantRole, metadata.participantStatus, metadata.participantPermission)
        _ = metadata.ownerIdentity.nameComponents
    }
}
