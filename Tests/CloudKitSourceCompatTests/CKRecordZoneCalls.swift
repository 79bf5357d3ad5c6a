// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

extension CKRecordZone.ID {
    static let notes = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
}

@Suite("Calls of CKRecordZone")
struct CKRecordZoneCalls {
    @Test("Zones and their IDs are made and compared in all usual forms")
    func zones() throws {
        let zone = CKRecordZone(zoneName: "Notes")
        #expect(zone.zoneID == .notes)
        #expect(CKRecordZone(zoneID: .notes).zoneID.zoneName == "Notes")
        #expect(CKRecordZone.default().zoneID == .default)
        #expect(CKRecordZone.ID.default.zoneName == CKRecordZone.ID.defaultZoneName)
        #expect(CKRecordZone.ID(zoneName: "Notes") == zone.zoneID)
        let byID = [zone.zoneID: zone]
        #expect(byID[.notes] === zone)
        #expect(Set([zone.zoneID, .notes, .default]).count == 2)
        switch zone.zoneID {
        case .notes: break
        default: Issue.record("another zone")
        }
        #expect(zone.capabilities.isEmpty || zone.capabilities.contains(.atomic))
        let capabilities: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing]
        #expect(capabilities.contains(.fetchChanges))
        #expect(zone.share == nil)

        let data = try NSKeyedArchiver.archivedData(
            withRootObject: zone.zoneID,
            requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKRecordZone.ID.self,
            from: data
        )
        #expect(read == .notes)
        #expect((zone.zoneID.copy() as? CKRecordZone.ID) == .notes)
    }

    func calls(_ database: CKDatabase) async throws {
        try await database.save(CKRecordZone(zoneName: "Notes"))
        let zone = try await database.recordZone(for: .notes)
        let zones = try await database.allRecordZones()
        _ = zones.first { $0.zoneID == zone.zoneID }
        let results = try await database.recordZones(for: [.notes, .default])
        _ = try results[.notes]?.get()
        let (saved, deleted) = try await database.modifyRecordZones(
            saving: [zone],
            deleting: [.default]
        )
        _ = try saved[.notes]?.get()
        try deleted[.default]?.get()
        try await database.deleteRecordZone(withID: .notes)
    }
}
