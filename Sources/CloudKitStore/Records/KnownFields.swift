package import Foundation

/// The fields of a record in the server's last known version.
///
/// A value that the row has too is stored once: this type then holds only a digest, which shows
/// whether the row's value is unchanged. Short values, and those that the row does not have, are
/// stored here.
package struct KnownFields: Sendable {
    private enum Storage {
        case plain([String: StoreValue])
        case stored(Data, Words)
    }

    private let storage: Storage

    package init(_ fields: [String: StoreValue]) { storage = .plain(fields) }

    /// Creates fields from their bytes in the file.
    package init(stored data: Data, _ words: Words) { storage = .stored(data, words) }

    // MARK: Reading

    /// Returns the fields, or the requested ones.
    ///
    /// - Parameters:
    ///   - rows: The rows in which fields with only a digest are looked up; a field that none of them
    ///     has unchanged is ``StoreValue/unknown``.
    ///   - includesWritten: Whether to include all fields whose values are
    ///     ``StoreValue/written(_:as:)``, or NULL.
    ///   - isWanted: A closure that returns whether a field is requested.
    /// - Returns: The values by field.
    /// - Throws: ``FieldCoding/Unreadable``.
    package func values(
        like rows: [[String: StoreValue]],
        includesWritten: Bool = false,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        switch storage {
        case .plain(let fields):
            return fields.filter { field, value in
                guard !isWanted(field) else { return true }
                guard includesWritten else { return false }
                if case .written = value { return true }
                return value.isNull
            }
        case .stored(let data, let words):
            var reader = FieldCoding.Reader(bytes: Array(data))
            var fields: [String: StoreValue] = [:]
            while !reader.isAtEnd {
                let name = try Self.name(&reader, words)
                if isWanted(name) || (includesWritten && reader.isAtWritten) {
                    fields[name] = try Self.value(&reader, words, name, rows)
                } else {
                    try Self.skipValue(&reader)
                }
            }
            return fields
        }
    }

    /// Returns the digests of the requested fields, including those of fields that are stored here.
    package func digests(where isWanted: (String) -> Bool) throws -> [String: UInt32] {
        switch storage {
        case .plain(let fields):
            return fields.filter { isWanted($0.key) && !$0.value.isNull }
                .mapValues(Self.digest)
        case .stored(let data, let words):
            var reader = FieldCoding.Reader(bytes: Array(data))
            var digests: [String: UInt32] = [:]
            while !reader.isAtEnd {
                let name = try Self.name(&reader, words)
                guard isWanted(name) else {
                    try Self.skipValue(&reader)
                    continue
                }
                if reader.next == Tag.digest {
                    _ = try reader.byte()
                    digests[name] = try Self.number(&reader)
                } else {
                    let value = try Self.value(&reader, words, name, [])
                    if !value.isNull { digests[name] = Self.digest(value) }
                }
            }
            return digests
        }
    }

    /// Returns the digest of a value.
    package static func digest(_ value: StoreValue) -> UInt32 {
        var bytes: [UInt8] = []
        FieldCoding.append(value, to: &bytes)
        return digest(bytes[...])
    }

    private static func digest(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return UInt32(truncatingIfNeeded: digest ^ (digest >> 32))
    }

    // MARK: Writing

    /// Returns the words that would shorten the fields' bytes.
    package func missingWords(_ words: Words) -> [String] {
        guard case .plain(let fields) = storage else { return [] }
        var missing = fields.keys.filter { words.number(of: $0) == nil }.sorted()
        if case .text(let stamp)? = fields[RecordStamp.field] {
            missing += RecordStamp(stamp).words.filter { words.number(of: $0) == nil }
        }
        return missing
    }

    /// Returns the bytes for the file.
    ///
    /// - Parameters:
    ///   - words: The file's words.
    ///   - isInRow: A closure that returns whether the row has a field's value, so that a digest
    ///     suffices.
    /// - Returns: The bytes.
    /// - Throws: ``FieldCoding/Unreadable`` for previous bytes that are invalid.
    package func data(
        _ words: Words,
        isInRow: (_ field: String, _ value: StoreValue) -> Bool = { _, _ in false }
    ) throws -> Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        switch storage {
        case .plain(let fields):
            for name in fields.keys.sorted() {
                Self.append(name, fields[name] ?? .null, to: &bytes, words, isInRow)
            }
        case .stored(let data, let before):
            var reader = FieldCoding.Reader(bytes: Array(data))
            while !reader.isAtEnd {
                let start = reader.place
                let name = try Self.name(&reader, before)
                let value = reader.place
                try Self.skipValue(&reader)
                let kept = reader.bytes[value..<reader.place]
                guard kept.count > Self.shortest, kept.first.map(Self.isPlain) == true else {
                    bytes += reader.bytes[start..<reader.place]
                    continue
                }
                var field = FieldCoding.Reader(bytes: Array(kept))
                Self.append(name, try field.value(), to: &bytes, words, isInRow)
            }
        }
        return Data(bytes)
    }

    /// Returns the fields' bytes after changes to fields, of which the row has all possible values.
    package func data(
        setting changes: [String: StoreValue],
        _ words: Words,
        isInRow: (_ field: String, _ value: StoreValue) -> Bool = { _, _ in false }
    ) throws -> Data {
        var bytes: [UInt8] = []
        switch storage {
        case .plain(let fields):
            return try KnownFields(fields.merging(changes) { $1 }).data(words, isInRow: isInRow)
        case .stored(let data, let before):
            var reader = FieldCoding.Reader(bytes: Array(data))
            while !reader.isAtEnd {
                let start = reader.place
                let name = try Self.name(&reader, before)
                try Self.skipValue(&reader)
                if changes[name] == nil { bytes += reader.bytes[start..<reader.place] }
            }
        }
        for name in changes.keys.sorted() {
            Self.append(name, changes[name] ?? .null, to: &bytes, words, isInRow)
        }
        return Data(bytes)
    }

    /// The sizes between which a digest replaces a value.
    private static let shortest = 5
    private static let longest = 1 << 16

    private static func append(
        _ name: String,
        _ value: StoreValue,
        to bytes: inout [UInt8],
        _ words: Words,
        _ isInRow: (String, StoreValue) -> Bool
    ) {
        let number = words.number(of: name) ?? 0
        FieldCoding.append(UInt64(number), to: &bytes)
        if number == 0 { FieldCoding.append(name, to: &bytes) }
        if name == RecordStamp.field, case .text(let text) = value,
            let stamp = StampCoding.bytes(text, words.number)
        {
            bytes.append(Tag.stamp)
            FieldCoding.append(UInt64(stamp.count), to: &bytes)
            bytes += stamp
            return
        }
        let start = bytes.count
        FieldCoding.append(value, to: &bytes)
        let count = bytes.count - start
        guard isPlain(bytes[start]), (shortest + 1...longest).contains(count),
            isInRow(name, value)
        else { return }
        let digest = digest(bytes[start...])
        bytes.removeLast(count)
        bytes.append(Tag.digest)
        withUnsafeBytes(of: digest.littleEndian) { bytes.append(contentsOf: $0) }
    }

    // MARK: Bytes

    /// Tags in addition to those of ``FieldCoding``.
    private enum Tag {
        static let digest: UInt8 = 32
        static let stamp: UInt8 = 33
    }

    /// Returns whether a digest may replace a value with this tag.
    private static func isPlain(_ tag: UInt8) -> Bool {
        FieldCoding.plainTags.contains(tag)
    }

    private static func name(
        _ reader: inout FieldCoding.Reader,
        _ words: Words
    ) throws -> String {
        let number = Int(clamping: try reader.unsigned())
        if number == 0 { return try reader.text() }
        guard let text = words.text(of: number) else { throw FieldCoding.Unreadable() }
        return text
    }

    private static func number(_ reader: inout FieldCoding.Reader) throws -> UInt32 {
        var number: UInt32 = 0
        for place in 0..<4 { number |= UInt32(try reader.byte()) << (8 * UInt32(place)) }
        return number
    }

    private static func value(
        _ reader: inout FieldCoding.Reader,
        _ words: Words,
        _ name: String,
        _ rows: [[String: StoreValue]]
    ) throws -> StoreValue {
        switch reader.next {
        case Tag.digest:
            _ = try reader.byte()
            let digest = try number(&reader)
            for row in rows {
                if let value = row[name], self.digest(value) == digest { return value }
            }
            return .unknown
        case Tag.stamp:
            _ = try reader.byte()
            var stamp = FieldCoding.Reader(bytes: Array(try reader.slice()))
            return .text(try StampCoding.text(&stamp, words))
        default: return try reader.value()
        }
    }

    private static func skipValue(_ reader: inout FieldCoding.Reader) throws {
        switch reader.next {
        case Tag.digest: for _ in 0..<5 { _ = try reader.byte() }
        case Tag.stamp:
            _ = try reader.byte()
            _ = try reader.slice()
        default: try reader.skipValue()
        }
    }
}

extension StoreValue {
    /// A placeholder for a previous value that the file no longer has; no field is a list of lists.
    package static let unknown = StoreValue.list([.list([])])

    package var isUnknown: Bool { self == .unknown }
}

extension [String: StoreValue] {
    /// The fields, without those that the file no longer has.
    var known: Self { filter { !$0.value.isUnknown } }
}
