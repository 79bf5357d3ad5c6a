import Foundation

/// System fields in a few bytes, for a program's own files: creating a keyed archive takes longer
/// than receiving the record.
///
/// Type, ID and tag are not included; a program that stores the bytes stores those anyway, and
/// passes them again. Numbers take as few bytes as they need, dates are whole milliseconds if they
/// have no finer part. Apps and Apple's framework do not read this form; archives are for them.
extension CKRecord {
    /// The first byte, which no keyed archive begins with, of records outside a hierarchy and in
    /// one.
    private static let marks: (alone: UInt8, linked: UInt8) = (2, 3)

    /// The record without its values, in the form that
    /// ``init(compactSystemFields:recordType:recordID:changeTag:)`` reads.
    ///
    /// A share has further parts; archive it instead.
    package var compactSystemFields: Data {
        var writer = CompactWriter()
        let isLinked = system.parent != nil || system.share != nil
        writer.bytes.append(isLinked ? Self.marks.linked : Self.marks.alone)
        writer.write(system.creationDate, after: nil)
        writer.write(system.modificationDate, after: system.creationDate)
        let zone = recordID.zoneID
        writer.write(user: system.creator)
        writer.write(user: system.modifier)
        if isLinked {
            writer.write(system.parent, zone)
            writer.write(system.share, zone)
        }
        return Data(writer.bytes)
    }

    /// Creates the record that bytes describe; nil if they are not ``compactSystemFields``.
    package convenience init?(
        compactSystemFields data: Data,
        recordType: String,
        recordID: CKRecord.ID,
        changeTag: String?
    ) {
        var reader = CompactReader(bytes: Array(data))
        let mark = reader.byte()
        guard mark == Self.marks.alone || mark == Self.marks.linked, !recordType.isEmpty else {
            return nil
        }
        var system = SystemFields(recordType: recordType, recordID: recordID)
        system.changeTag = changeTag
        system.creationDate = reader.date(after: nil)
        system.modificationDate = reader.date(after: system.creationDate)
        system.creator = reader.user()
        system.modifier = reader.user()
        if mark == Self.marks.linked {
            system.parent = reader.reference(recordID.zoneID)
            system.share = reader.reference(recordID.zoneID)
        }
        guard reader.isAtEnd else { return nil }
        self.init(system: system)
    }
}

/// The prefix of an optional value.
private enum Presence {
    static let none: UInt8 = 0
    static let full: UInt8 = 1
    /// A date in milliseconds, the current user, or a record in the zone of the other.
    static let short: UInt8 = 2
}

private struct CompactWriter {
    var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(32) }

    private mutating func write(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func write(_ recordID: CKRecord.ID) {
        write(recordID.recordName)
        write(recordID.zoneID.zoneName)
        write(recordID.zoneID.ownerName)
    }

    mutating func write(_ date: Date?, after other: Date?) {
        guard let date else { return bytes.append(Presence.none) }
        guard let milliseconds = date.wholeMilliseconds else {
            bytes.append(Presence.full)
            let bits = date.timeIntervalSinceReferenceDate.bitPattern
            withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
            return
        }
        bytes.append(Presence.short)
        let number = milliseconds - (other?.wholeMilliseconds ?? 0)
        write(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    mutating func write(user: CKRecord.ID?) {
        guard let user else { return bytes.append(Presence.none) }
        guard user != .thisUser else { return bytes.append(Presence.short) }
        bytes.append(Presence.full)
        write(user)
    }

    mutating func write(_ reference: CKRecord.Reference?, _ zone: CKRecordZone.ID) {
        guard let reference else { return bytes.append(Presence.none) }
        let isShort = reference.recordID.zoneID == zone
        bytes.append(isShort ? Presence.short : Presence.full)
        bytes.append(UInt8(clamping: reference.action.rawValue))
        if isShort { write(reference.recordID.recordName) } else { write(reference.recordID) }
    }
}

extension Date {
    /// The milliseconds since 1970, as the service counts, that represent exactly this date; nil if
    /// none do.
    fileprivate var wholeMilliseconds: Int64? {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        guard abs(milliseconds) < 1e15,
            Date(wholeMilliseconds: Int64(milliseconds)).timeIntervalSinceReferenceDate.bitPattern
                == timeIntervalSinceReferenceDate.bitPattern
        else { return nil }
        return Int64(milliseconds)
    }

    fileprivate init(wholeMilliseconds milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension CKRecord.ID {
    /// The service's name for the current user.
    fileprivate static var thisUser: CKRecord.ID {
        CKRecord.ID(
            recordName: CKCurrentUserDefaultName,
            zoneID: CKRecordZone.ID(
                zoneName: CKRecordZone.ID.defaultZoneName,
                ownerName: CKCurrentUserDefaultName
            )
        )
    }
}

/// Reads the writer's output; after the first invalid byte nothing further.
private struct CompactReader {
    let bytes: [UInt8]
    private var place = 0
    private var isBroken = false

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count && !isBroken }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard !isBroken, count >= 0, count <= bytes.count - place else {
            isBroken = true
            return nil
        }
        defer { place += count }
        return bytes[place..<place + count]
    }

    mutating func byte() -> UInt8? { take(1)?.first }

    private mutating func number() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let next = byte() else { return nil }
            number |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return number }
        }
        isBroken = true
        return nil
    }

    private mutating func text() -> String? {
        number().flatMap { take(Int(clamping: $0)) }
            .flatMap { String(validating: $0, as: UTF8.self) }
    }

    private mutating func recordID() -> CKRecord.ID? {
        guard let name = text(), let zone = text(), let owner = text(), !name.isEmpty,
            !zone.isEmpty, !owner.isEmpty
        else { return nil }
        return CKRecord.ID(
            recordName: name,
            zoneID: CKRecordZone.ID(zoneName: zone, ownerName: owner)
        )
    }

    mutating func date(after other: Date?) -> Date? {
        optional { reader, isShort in
            guard isShort else {
                let bits = reader.take(8)?.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                return bits.map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
            }
            return reader.number().map {
                let number = Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1)
                return Date(wholeMilliseconds: number &+ (other?.wholeMilliseconds ?? 0))
            }
        }
    }

    mutating func user() -> CKRecord.ID? {
        optional { reader, isShort in isShort ? .thisUser : reader.recordID() }
    }

    mutating func reference(_ zone: CKRecordZone.ID) -> CKRecord.Reference? {
        optional { reader, isShort in
            guard let byte = reader.byte(),
                let action = CKRecord.ReferenceAction(rawValue: UInt(byte)),
                let recordID = isShort
                    ? reader.text().flatMap({
                        $0.isEmpty ? nil : CKRecord.ID(recordName: $0, zoneID: zone)
                    }) : reader.recordID()
            else { return nil }
            return CKRecord.Reference(recordID: recordID, action: action)
        }
    }

    /// Reads an optional value; one that is present but invalid invalidates everything.
    private mutating func optional<Value>(
        _ body: (inout CompactReader, _ isShort: Bool) -> Value?
    ) -> Value? {
        guard let presence = byte(), presence != Presence.none else { return nil }
        guard presence <= Presence.short,
            let value = body(&self, presence == Presence.short)
        else {
            isBroken = true
            return nil
        }
        return value
    }
}
