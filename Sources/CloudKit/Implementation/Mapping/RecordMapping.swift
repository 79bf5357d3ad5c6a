import CloudKitWire
import Foundation

/// The mapping between records in the API and on the wire.
struct RecordMapping: Sendable {
    let owners: OwnerMapping
    let shares: ShareMapping
    /// `true` when the service stores dates to the last bit.
    var keepsExactDates = false

    // MARK: From the wire

    /// Returns the record of a response about the zone `home`; `asset` returns the asset of a
    /// field.
    ///
    /// - Throws: `CKError.internalError` for a record without name or type.
    func native(
        _ wire: WireRecord,
        home: CKRecordZone.ID,
        asset: (WireAsset) -> CKAsset
    ) throws(CKError) -> CKRecord {
        guard let name = wire.recordName, !name.isEmpty, let type = wire.recordType, !type.isEmpty
        else {
            throw CKError(.internalError, message: "The server sent a record without name or type")
        }
        let zoneID = wire.zoneID.map { owners.native($0, near: home) } ?? home
        var system = SystemFields(
            recordType: type,
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
        )
        update(&system, from: wire)
        var plain = FieldStore()
        var encrypted = FieldStore()
        for (key, field) in wire.fields {
            guard let wire = field.value else { continue }
            var value = wire.native(owners: owners, home: zoneID, asset: asset)
            if let dates = field.exactDates { value = value.refined(by: dates) }
            if field.isEncrypted {
                encrypted.setServerValue(value, forKey: key)
            } else {
                plain.setServerValue(value, forKey: key)
            }
        }
        guard type == CKRecord.SystemType.share else {
            return CKRecord(system: system, plain: plain, encrypted: encrypted)
        }
        return CKShare(
            system: system,
            plain: plain,
            encrypted: encrypted,
            parts: shares.native(wire)
        )
    }

    /// Copies the server's system fields of a record.
    func update(_ system: inout SystemFields, from wire: WireRecord) {
        let zoneID = system.recordID.zoneID
        system.changeTag = wire.recordChangeTag
        system.creationDate = wire.created.map { Date(milliseconds: $0.timestamp) }
        system.creator = owners.userRecordID(wire.created?.userRecordName)
        system.modificationDate = wire.modified.map { Date(milliseconds: $0.timestamp) }
        system.modifier = owners.userRecordID(wire.modified?.userRecordName)
        system.parent = wire.parent?.native(owners: owners, home: zoneID)
        system.share = wire.share?.native(owners: owners, home: zoneID)
        system.reader = owners.caller
    }

    // MARK: To the wire

    /// Returns the operation that saves a record under a policy.
    ///
    /// - Throws: `CKError` naming the record and the field that cannot be sent.
    func operation(
        saving record: CKRecord,
        policy: CKModifyRecordsOperation.RecordSavePolicy,
        upload: (CKRecord.FieldKey, CKAsset) throws(UnsendableValue) -> WireAsset
    ) throws(CKError) -> RecordOperation {
        var wire = WireRecord(
            recordName: record.recordID.recordName,
            recordType: record.recordType
        )
        if let share = record as? CKShare { wire.shareParts = shares.wire(share) }
        // Participants are never merged: a share is saved only onto the version it comes from.
        let policy = record is CKShare ? .ifServerRecordUnchanged : policy
        let type: RecordOperation.OperationType
        switch policy {
        case .ifServerRecordUnchanged where record.recordChangeTag == nil: type = .create
        case .ifServerRecordUnchanged:
            type = .update
            wire.recordChangeTag = record.recordChangeTag
        case .changedKeys, .allKeys: type = .forceUpdate
        }
        let all = policy == .allKeys || type == .create
        for isEncrypted in [false, true] {
            let store = isEncrypted ? record.encrypted : record.plain
            for key in Set(store.changedKeys + (all ? store.allKeys : []))
            where isSent(store[key], changed: store.isChanged(key)) {
                let value = try value(store[key], key, of: record, upload: upload)
                // A new record has nothing to clear.
                if value == nil && type == .create { continue }
                wire.fields[key] = WireField(value, isEncrypted: isEncrypted)
                if keepsExactDates { wire.fields[key]?.exactDates = store[key]?.exactDates }
            }
        }
        wire.parent = record.parent?.wire(owners: owners, home: record.recordID.zoneID)
        if record.system.removesParent, type != .create { wire.removesParent = true }
        return RecordOperation(type, wire)
    }

    /// Returns whether a field is sent: an unchanged asset from the server stays there, and cannot
    /// be sent back.
    private func isSent(_ value: FieldValue?, changed: Bool) -> Bool {
        changed || !(value?.isAsset ?? false)
    }

    private func value(
        _ value: FieldValue?,
        _ key: CKRecord.FieldKey,
        of record: CKRecord,
        upload: (CKRecord.FieldKey, CKAsset) throws(UnsendableValue) -> WireAsset
    ) throws(CKError) -> WireValue? {
        do throws(UnsendableValue) {
            guard key.utf8.first != UInt8(ascii: "_"), !key.isEmpty else {
                throw UnsendableValue(
                    reason: "the key is CloudKit's own; keys start with a letter"
                )
            }
            return try value?.wire(owners: owners, home: record.recordID.zoneID) {
                asset throws(UnsendableValue) in try upload(key, asset)
            }
        } catch {
            throw CKError(
                .invalidArguments,
                message: "Record \(record.recordID.recordName) of type \(record.recordType), "
                    + "field \(key): \(error.reason)"
            )
        }
    }
}
