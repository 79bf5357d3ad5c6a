import Foundation

/// System fields in a few bytes, for a program's own files: a keyed archive takes longer to make than
/// the record took to arrive.
///
/// Texts in UTF-8 after their length, dates as the bits of their seconds, a byte before each that may
/// be missing. Apps and Apple's framework do not read it; archives are for them.
extension CKRecord {
    /// The first byte, which no keyed archive begins with.
    private static let mark: UInt8 = 1

    /// The record without its values, as ``init(compactSystemFields:)`` reads it.
    ///
    /// A share has more than these; archive it.
    package var compactSystemFields: Data {
        var writer = CompactWriter()
        writer.bytes.append(Self.mark)
        writer.write(system.recordType)
        writer.write(system.recordID)
        writer.write(system.changeTag)
        writer.write(system.creationDate)
        writer.write(system.modificationDate)
        writer.write(system.creator)
        writer.write(system.modifier)
        writer.write(system.parent)
        writer.write(system.share)
        return Data(writer.bytes)
    }

    /// Makes the record that bytes describe; nil when they are none of ``compactSystemFields``.
    package convenience init?(compactSystemFields data: Data) {
        var reader = CompactReader(bytes: Array(data))
        guard reader.byte() == Self.mark, let type = reader.text(), !type.isEmpty,
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

private struct CompactWriter {
    var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(160) }

    private mutating func write(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ text: String) {
        let count = UInt32(clamping: text.utf8.count)
        withUnsafeBytes(of: count.littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(_ recordID: CKRecord.ID) {
        write(recordID.recordName)
        write(recordID.zoneID.zoneName)
        write(recordID.zoneID.ownerName)
    }

    mutating func write(_ text: String?) {
        write(text) { $0.write($1) }
    }

    mutating func write(_ recordID: CKRecord.ID?) {
        write(recordID) { $0.write($1) }
    }

    mutating func write(_ date: Date?) {
        write(date) { $0.write($1.timeIntervalSinceReferenceDate.bitPattern) }
    }

    mutating func write(_ reference: CKRecord.Reference?) {
        write(reference) { writer, reference in
            writer.bytes.append(UInt8(clamping: reference.action.rawValue))
            writer.write(reference.recordID)
        }
    }

    private mutating func write<Value>(
        _ value: Value?,
        _ body: (inout CompactWriter, Value) -> Void
    ) {
        bytes.append(value == nil ? 0 : 1)
        if let value { body(&self, value) }
    }
}

/// Reads what the writer wrote; after the first byte that is wrong there is nothing more.
private struct CompactReader {
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

    /// A value that may be missing; one that is there and cannot be read breaks off everything.
    mutating func optional<Value>(_ body: (inout CompactReader) -> Value?) -> Value? {
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
