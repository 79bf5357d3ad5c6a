/// A binary property list whose objects are read on request.
///
/// Foundation reads all of it immediately and recursively, and does not expose the references of a
/// keyed archive. An untrusted list may contain cycles or be a thousand levels deep; this type
/// checks each position and follows no reference.
package struct BinaryPropertyList: Sendable {
    /// An error in the bytes, in words that follow "the archive cannot be read: ".
    package struct Malformed: Error {
        package let message: String

        package init(_ message: String) { self.message = message }
    }

    /// An object; its elements are numbers of other objects.
    package enum Object: Hashable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        /// Seconds since 2001.
        case date(Double)
        case data([UInt8])
        case string(String)
        /// A reference in a keyed archive.
        case reference(Int)
        case array([Int])
        case dictionary([Pair])
    }

    /// An entry of a dictionary.
    package struct Pair: Hashable, Sendable {
        package var key: Int
        package var value: Int

        package init(key: Int, value: Int) {
            self.key = key
            self.value = value
        }
    }

    private static let trailer = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let numberSize: Int
    private let table: Int
    /// The number of objects.
    package let count: Int
    /// The number of the top object.
    package let top: Int

    package init(_ bytes: [UInt8]) throws(Malformed) {
        self.bytes = bytes
        guard bytes.count > 8 + Self.trailer, bytes.starts(with: Array("bplist0".utf8)) else {
            throw Malformed("it does not begin as a binary property list")
        }
        let end = bytes.count - Self.trailer
        offsetSize = Int(bytes[end + 6])
        numberSize = Int(bytes[end + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(numberSize),
            let count = Self.number(bytes, end + 8, 8), let top = Self.number(bytes, end + 16, 8),
            let table = Self.number(bytes, end + 24, 8), top < count, table < end,
            count <= (end - table) / offsetSize
        else { throw Malformed("its table of objects is damaged") }
        (self.count, self.top, self.table) = (count, top, table)
    }

    /// Returns an unsigned big-endian number; nil if it exceeds the bytes or `Int`.
    private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int? {
        guard place >= 0, size > 0, place <= bytes.count - size else { return nil }
        let value = bytes[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }

    private func number(_ place: Int, _ size: Int) throws(Malformed) -> Int {
        guard let number = Self.number(bytes, place, size) else {
            throw Malformed("an object ends beyond its end")
        }
        return number
    }

    /// Returns the object with a number.
    package func object(_ number: Int) throws(Malformed) -> Object {
        let place = try place(number)
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

    /// Returns whether an object is a text of ASCII characters, without creating it.
    package func isText(_ number: Int, _ text: String) -> Bool {
        // A damaged object is no text.
        guard let place = try? place(number), bytes[place] >> 4 == 0x5,
            let (count, start) = try? extent(Int(bytes[place] & 0x0F), place),
            count == text.utf8.count, count <= table - start
        else { return false }
        return text.utf8.elementsEqual(bytes[start..<start + count])
    }

    /// Returns whether bytes are a list with a set in it, which no archive has.
    ///
    /// Foundation's unarchiver ends the process at one off Apple's platforms, so such bytes are
    /// refused before it.
    package static func hasSets(_ bytes: [UInt8]) -> Bool {
        // What is no list has none.
        guard let list = try? BinaryPropertyList(bytes) else { return false }
        return (0..<list.count).contains { number in
            // A damaged object is no set.
            guard let place = try? list.place(number) else { return false }
            return [0xB, 0xC].contains(bytes[place] >> 4)
        }
    }

    /// Returns the index of an object's first byte.
    private func place(_ number: Int) throws(Malformed) -> Int {
        guard number >= 0, number < count else {
            throw Malformed("it refers to object \(number) of \(count)")
        }
        let place = try self.number(table + number * offsetSize, offsetSize)
        guard place >= 8, place < table else {
            throw Malformed("object \(number) is outside of it")
        }
        return place
    }

    /// Returns the number of an object's elements and the index of the first one.
    private func extent(_ low: Int, _ start: Int) throws(Malformed) -> (count: Int, place: Int) {
        guard low == 0x0F else { return (low, start + 1) }
        let place = start + 1
        guard place < bytes.count, bytes[place] >> 4 == 0x1, bytes[place] & 0x0F <= 3 else {
            throw Malformed("an object has no length")
        }
        let size = 1 << Int(bytes[place] & 0x0F)
        return (try number(place + 1, size), place + 1 + size)
    }

    private func integer(_ place: Int, _ power: Int) throws(Malformed) -> Int64 {
        guard power <= 4 else { throw Malformed("a number has \(1 << power) bytes") }
        let size = 1 << power
        guard place <= bytes.count - size else {
            throw Malformed("an object ends beyond its end")
        }
        // The lower 64 bits of a 128-bit number; shorter numbers are unsigned.
        return bytes[place..<place + size].suffix(8).reduce(0) { $0 << 8 | Int64($1) }
    }

    private func real(_ place: Int, _ power: Int) throws(Malformed) -> Double {
        switch power {
        case 2:
            let bits = try integer(place, power)
            return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 3: return Double(bitPattern: UInt64(bitPattern: try integer(place, power)))
        default: throw Malformed("a fraction has \(1 << power) bytes")
        }
    }

    private func container(
        _ kind: UInt8,
        _ low: Int,
        _ start: Int
    ) throws(Malformed) -> Object {
        let (count, place) = try extent(low, start)
        let width =
            switch kind {
            case 0x6: 2
            case 0xA, 0xC: numberSize
            case 0xD: numberSize * 2
            default: 1
            }
        guard count >= 0, place <= table, count <= (table - place) / width else {
            throw Malformed("an object ends beyond its end")
        }
        let content = bytes[place..<place + count * width]
        switch kind {
        case 0x4: return .data(Array(content))
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
        default: throw Malformed("an object is of the unknown kind \(kind)")
        }
    }

    private func numbers(_ place: Int, _ count: Int) throws(Malformed) -> [Int] {
        var numbers: [Int] = []
        numbers.reserveCapacity(count)
        for index in 0..<count {
            numbers.append(try number(place + index * numberSize, numberSize))
        }
        return numbers
    }
}
