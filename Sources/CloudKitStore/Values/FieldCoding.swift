package import Foundation

/// The encoding of fields in the control tables: compact, fast and deterministic.
package enum FieldCoding {
    /// An error for bytes that are not encoded fields.
    struct Unreadable: Error {}

    private enum Tag {
        static let null: UInt8 = 0
        static let integer: UInt8 = 1
        static let real: UInt8 = 2
        static let text: UInt8 = 3
        static let bytes: UInt8 = 4
        static let date: UInt8 = 5
        static let reference: UInt8 = 6
        static let location: UInt8 = 7
        static let list: UInt8 = 8
        static let asset: UInt8 = 9
        static let written: UInt8 = 10
    }

    /// The tags of numbers, texts, bytes, dates and references.
    static let plainTags: Set<UInt8> = [
        Tag.integer, Tag.real, Tag.text, Tag.bytes, Tag.date, Tag.reference,
    ]

    package static func data(_ fields: [String: StoreValue]) -> Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        append(UInt64(fields.count), to: &bytes)
        for name in fields.keys.sorted() {
            append(name, to: &bytes)
            append(fields[name] ?? .null, to: &bytes)
        }
        return Data(bytes)
    }

    /// Returns the fields, or the requested ones.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - includesWritten: Whether to include all fields whose values are
    ///     ``StoreValue/written(_:as:)``, or NULL.
    ///   - isWanted: A closure that returns whether a field is requested.
    /// - Returns: The values by field.
    /// - Throws: ``Unreadable``.
    package static func fields(
        _ data: Data,
        includesWritten: Bool = false,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        var reader = Reader(bytes: Array(data))
        let count = try reader.count()
        var fields = [String: StoreValue](minimumCapacity: count)
        for _ in 0..<count {
            let name = try reader.text()
            if isWanted(name) || (includesWritten && reader.isAtWritten) {
                fields[name] = try reader.value()
            } else {
                try reader.skipValue()
            }
        }
        return fields
    }

    /// Returns the bytes of fields after changes to fields; both are copied unchanged.
    package static func data(_ data: Data, setting changes: Data) throws -> Data {
        var kept = Reader(bytes: Array(data))
        var set = Reader(bytes: Array(changes))
        var (keptCount, setCount) = (try kept.count(), try set.count())
        var field = try kept.field(of: &keptCount)
        var change = try set.field(of: &setCount)
        var count: UInt64 = 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + changes.count)
        while field != nil || change != nil {
            if let old = field, change.map({ old.name < $0.name }) ?? true {
                bytes += old.bytes
                field = try kept.field(of: &keptCount)
            } else if let new = change {
                bytes += new.bytes
                if new.name == field?.name { field = try kept.field(of: &keptCount) }
                change = try set.field(of: &setCount)
            }
            count += 1
        }
        var number: [UInt8] = []
        append(count, to: &number)
        return Data(number + bytes)
    }

    // MARK: Writing

    static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        append(UInt64(bitPattern: (number << 1) ^ (number >> 63)), to: &bytes)
    }

    static func append(_ text: String, to bytes: inout [UInt8]) {
        append(UInt64(text.utf8.count), to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private static func append(_ number: Double, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    static func append(_ value: StoreValue, to bytes: inout [UInt8]) {
        switch value {
        case .null: bytes.append(Tag.null)
        case .integer(let number):
            bytes.append(Tag.integer)
            append(number, to: &bytes)
        case .real(let number):
            bytes.append(Tag.real)
            append(number, to: &bytes)
        case .text(let text):
            bytes.append(Tag.text)
            append(text, to: &bytes)
        case .bytes(let data):
            bytes.append(Tag.bytes)
            append(UInt64(data.count), to: &bytes)
            bytes.append(contentsOf: data)
        case .date(let milliseconds):
            bytes.append(Tag.date)
            append(milliseconds, to: &bytes)
        case .reference(let name):
            bytes.append(Tag.reference)
            append(name, to: &bytes)
        case .location(let latitude, let longitude):
            bytes.append(Tag.location)
            append(latitude, to: &bytes)
            append(longitude, to: &bytes)
        case .list(let values):
            bytes.append(Tag.list)
            append(UInt64(values.count), to: &bytes)
            for value in values { append(value, to: &bytes) }
        case .asset(let asset):
            bytes.append(Tag.asset)
            append(asset.count, to: &bytes)
            append(asset.digest, to: &bytes)
        case .written(let value, let form):
            bytes.append(Tag.written)
            append(form, to: &bytes)
            append(value, to: &bytes)
        }
    }

    // MARK: Reading

    struct Reader {
        /// The maximum nesting of lists; CloudKit nests none.
        private static let depthLimit = 4

        let bytes: [UInt8]
        private(set) var place = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        var isAtEnd: Bool { place >= bytes.count }

        /// The next byte, without consuming it; nil at the end.
        var next: UInt8? { isAtEnd ? nil : bytes[place] }

        /// `true` when the next value is written in an unusual form, or NULL.
        var isAtWritten: Bool {
            place < bytes.count && (bytes[place] == Tag.written || bytes[place] == Tag.null)
        }

        mutating func byte() throws -> UInt8 {
            guard place < bytes.count else { throw Unreadable() }
            defer { place += 1 }
            return bytes[place]
        }

        mutating func unsigned() throws -> UInt64 {
            var number: UInt64 = 0
            var shift: UInt64 = 0
            while true {
                let next = try byte()
                guard shift < 64 else { throw Unreadable() }
                number |= UInt64(next & 0x7F) << shift
                if next < 0x80 { return number }
                shift += 7
            }
        }

        mutating func signed() throws -> Int64 {
            let number = try unsigned()
            return Int64(bitPattern: (number >> 1)) ^ -Int64(bitPattern: number & 1)
        }

        mutating func count() throws -> Int {
            guard let count = Int(exactly: try unsigned()), count <= bytes.count - place else {
                throw Unreadable()
            }
            return count
        }

        mutating func slice() throws -> ArraySlice<UInt8> {
            let count = try count()
            defer { place += count }
            return bytes[place..<place + count]
        }

        /// Returns the next of some fields, with the bytes of its name and value; nil after the last.
        mutating func field(
            of count: inout Int
        ) throws -> (name: String, bytes: ArraySlice<UInt8>)? {
            guard count > 0 else { return nil }
            count -= 1
            let start = place
            let name = try text()
            try skipValue()
            return (name, bytes[start..<place])
        }

        mutating func text() throws -> String { String(decoding: try slice(), as: UTF8.self) }

        private mutating func double() throws -> Double {
            guard bytes.count - place >= 8 else { throw Unreadable() }
            var pattern: UInt64 = 0
            for offset in 0..<8 { pattern |= UInt64(bytes[place + offset]) << (8 * offset) }
            place += 8
            return Double(bitPattern: pattern)
        }

        /// Skips a value.
        mutating func skipValue(depth: Int = 0) throws {
            switch try byte() {
            case Tag.null: break
            case Tag.integer, Tag.date: _ = try unsigned()
            case Tag.real: _ = try double()
            case Tag.text, Tag.bytes, Tag.reference: _ = try slice()
            case Tag.location, Tag.asset: _ = try value(of: bytes[place - 1], depth: depth)
            case Tag.list:
                guard depth < Self.depthLimit else { throw Unreadable() }
                for _ in 0..<(try count()) { try skipValue(depth: depth + 1) }
            case Tag.written:
                guard depth < Self.depthLimit else { throw Unreadable() }
                _ = try slice()
                try skipValue(depth: depth + 1)
            default: throw Unreadable()
            }
        }

        mutating func value(depth: Int = 0) throws -> StoreValue {
            try value(of: try byte(), depth: depth)
        }

        private mutating func value(of tag: UInt8, depth: Int) throws -> StoreValue {
            switch tag {
            case Tag.null: return .null
            case Tag.integer: return .integer(try signed())
            case Tag.real: return .real(try double())
            case Tag.text: return .text(try text())
            case Tag.bytes: return .bytes(Data(try slice()))
            case Tag.date: return .date(milliseconds: try signed())
            case Tag.reference: return .reference(try text())
            case Tag.location:
                let latitude = try double()
                return .location(latitude: latitude, longitude: try double())
            case Tag.list:
                guard depth < Self.depthLimit else { throw Unreadable() }
                var values: [StoreValue] = []
                for _ in 0..<(try count()) { values.append(try value(depth: depth + 1)) }
                return .list(values)
            case Tag.asset:
                let count = try signed()
                return .asset(AssetDigest(count: count, digest: try unsigned()))
            case Tag.written:
                guard depth < Self.depthLimit else { throw Unreadable() }
                let form = try text()
                return .written(try value(depth: depth + 1), as: form)
            default: throw Unreadable()
            }
        }
    }
}
