import Foundation

/// A binary property list whose objects are read on request.
///
/// Foundation reads all of it immediately and recursively, and does not expose the references of a
/// keyed archive. An untrusted list may contain cycles or be a thousand levels deep; this type
/// checks each position and follows no reference.
struct BinaryPropertyList {
    /// An object; its elements are numbers of other objects.
    enum Object: Hashable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        /// Seconds since 2001.
        case date(Double)
        case data(Data)
        case string(String)
        /// A reference in a keyed archive.
        case reference(Int)
        case array([Int])
        case dictionary([Pair])
    }

    /// An entry of a dictionary.
    struct Pair: Hashable {
        var key: Int
        var value: Int
    }

    private static let trailer = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let numberSize: Int
    private let table: Int
    /// The number of objects.
    let count: Int
    /// The number of the top object.
    let top: Int

    init(_ data: Data) throws(CoreDataModelError) {
        bytes = Array(data)
        guard bytes.count > 8 + Self.trailer, bytes.starts(with: Array("bplist0".utf8)) else {
            throw Self.failure("it does not begin as a binary property list")
        }
        let end = bytes.count - Self.trailer
        offsetSize = Int(bytes[end + 6])
        numberSize = Int(bytes[end + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(numberSize),
            let count = Self.number(bytes, end + 8, 8), let top = Self.number(bytes, end + 16, 8),
            let table = Self.number(bytes, end + 24, 8), top < count, table < end,
            count <= (end - table) / offsetSize
        else { throw Self.failure("its table of objects is damaged") }
        (self.count, self.top, self.table) = (count, top, table)
    }

    static func failure(_ message: String) -> CoreDataModelError {
        CoreDataModelError(.malformed, "the archive", message)
    }

    /// Returns an unsigned big-endian number; nil if it exceeds the bytes or `Int`.
    private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int? {
        guard place >= 0, size > 0, place <= bytes.count - size else { return nil }
        let value = bytes[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }

    private func number(_ place: Int, _ size: Int) throws(CoreDataModelError) -> Int {
        guard let number = Self.number(bytes, place, size) else {
            throw Self.failure("an object ends beyond its end")
        }
        return number
    }

    /// Returns the object with a number.
    func object(_ number: Int) throws(CoreDataModelError) -> Object {
        guard number >= 0, number < count else {
            throw Self.failure("it refers to object \(number) of \(count)")
        }
        let place = try self.number(table + number * offsetSize, offsetSize)
        guard place >= 8, place < table else {
            throw Self.failure("object \(number) is outside of it")
        }
        let (kind, low) = (bytes[place] >> 4, Int(bytes[place] & 0x0F))
        switch kind {
        case 0x0:
            switch low {
            case 0x8: return .boolean(false)
            case 0x9: return .boolean(true)
            default: return .null
            }
        case 0x1: return .integer(try integer(place + 1, low))
        case 0x2, 0x3:
            let value = try real(place + 1, low)
            return kind == 0x3 ? .date(value) : .real(value)
        case 0x8: return .reference(try self.number(place + 1, low + 1))
        default: return try container(kind, low, place)
        }
    }

    private func integer(_ place: Int, _ power: Int) throws(CoreDataModelError) -> Int64 {
        guard power <= 4 else { throw Self.failure("a number has \(1 << power) bytes") }
        let size = 1 << power
        guard place <= bytes.count - size else {
            throw Self.failure("an object ends beyond its end")
        }
        // The lower 64 bits of a 128-bit number; shorter numbers are unsigned.
        return bytes[place..<place + size].suffix(8).reduce(0) { $0 << 8 | Int64($1) }
    }

    private func real(_ place: Int, _ power: Int) throws(CoreDataModelError) -> Double {
        switch power {
        case 2:
            let bits = try integer(place, power)
            return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 3: return Double(bitPattern: UInt64(bitPattern: try integer(place, power)))
        default: throw Self.failure("a fraction has \(1 << power) bytes")
        }
    }

    private func container(
        _ kind: UInt8,
        _ low: Int,
        _ start: Int
    ) throws(CoreDataModelError) -> Object {
        var (count, place) = (low, start + 1)
        if low == 0x0F {
            guard place < bytes.count, bytes[place] >> 4 == 0x1, bytes[place] & 0x0F <= 3 else {
                throw Self.failure("an object has no length")
            }
            let power = Int(bytes[place] & 0x0F)
            count = try number(place + 1, 1 << power)
            place += 1 + 1 << power
        }
        let width =
            switch kind {
            case 0x6: 2
            case 0xA, 0xC: numberSize
            case 0xD: numberSize * 2
            default: 1
            }
        guard count >= 0, place <= table, count <= (table - place) / width else {
            throw Self.failure("an object ends beyond its end")
        }
        let content = bytes[place..<place + count * width]
        switch kind {
        case 0x4: return .data(Data(content))
        case 0x5: return .string(String(decoding: content, as: UTF8.self))
        case 0x6:
            let units = stride(from: place, to: content.endIndex, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return .string(String(decoding: units, as: UTF16.self))
        case 0xA, 0xC: return .array(try numbers(place, count))
        case 0xD:
            let keys = try numbers(place, count)
            let values = try numbers(place + count * numberSize, count)
            return .dictionary(zip(keys, values).map(Pair.init))
        default: throw Self.failure("an object is of the unknown kind \(kind)")
        }
    }

    private func numbers(_ place: Int, _ count: Int) throws(CoreDataModelError) -> [Int] {
        var numbers: [Int] = []
        numbers.reserveCapacity(count)
        for index in 0..<count {
            numbers.append(try number(place + index * numberSize, numberSize))
        }
        return numbers
    }
}
