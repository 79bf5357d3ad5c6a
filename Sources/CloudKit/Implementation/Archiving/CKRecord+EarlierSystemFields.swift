import Foundation

/// The compact system fields in files of an earlier version of the store: with type, ID and tag,
/// texts in UTF-8 after their length, and a byte before each optional value.
extension CKRecord {
    /// Creates the record that bytes of this form describe; nil if they are invalid.
    package convenience init?(earlierSystemFields data: Data) {
        var reader = EarlierReader(bytes: Array(data))
        guard reader.byte() == 1, let type = reader.text(), !type.isEmpty,
            let recordID = reader.recordID()
        else { return nil }
        var system = SystemFields(recordType: type, recordID: recordID)
        system.changeTag = reader.optional { $0.text() }
        system.creationDate = reader.optional { $0.date() }
        system.modificationDate = reader.optional { $0.date() }
        system.creator = reader.optional { $0.recordID() }
        system.modifier = reader.optional { $0.recordID() }
        system.parent = reader.optional { $0.reference() }
        system.share = reader.optional { $0.reference() }
        guard reader.isAtEnd else { return nil }
        self.init(system: system)
    }
}

/// Reads the bytes; after the first invalid one nothing further.
private struct EarlierReader {
    let bytes: [UInt8]
    private var place = 0
    private var isBroken = false

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count && !isBroken }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard !isBroken, count <= bytes.count - place else {
            isBroken = true
            return nil
        }
        defer { place += count }
        return bytes[place..<place + count]
    }

    mutating func byte() -> UInt8? { take(1)?.first }

    private mutating func number(_ count: Int) -> UInt64? {
        take(count)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func text() -> String? {
        number(4).flatMap { take(Int($0)) }.flatMap { String(validating: $0, as: UTF8.self) }
    }

    mutating func date() -> Date? {
        number(8).map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
    }

    mutating func recordID() -> CKRecord.ID? {
        guard let name = text(), let zone = text(), let owner = text(), !name.isEmpty,
            !zone.isEmpty, !owner.isEmpty
        else { return nil }
        return CKRecord.ID(
            recordName: name,
            zoneID: CKRecordZone.ID(zoneName: zone, ownerName: owner)
        )
    }

    mutating func reference() -> CKRecord.Reference? {
        guard let byte = byte(), let action = CKRecord.ReferenceAction(rawValue: UInt(byte)),
            let recordID = recordID()
        else { return nil }
        return CKRecord.Reference(recordID: recordID, action: action)
    }

    /// Reads an optional value; one that is present but invalid invalidates everything.
    mutating func optional<Value>(_ body: (inout EarlierReader) -> Value?) -> Value? {
        switch byte() {
        case 0: return nil
        case 1:
            let value = body(&self)
            if value == nil { isBroken = true }
            return value
        default:
            isBroken = true
            return nil
        }
    }
}
