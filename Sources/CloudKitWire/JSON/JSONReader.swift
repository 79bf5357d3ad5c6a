#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads JSON directly from bytes, for the most frequent requests and responses.
///
/// It reads the common forms and gives up on all others, invalid JSON included. The caller then
/// decodes with Foundation, which decides, and reports the error. So the reader may be narrow, but
/// whatever it accepts must mean the same to Foundation.
struct JSONReader {
    /// The error for input that the reader does not handle.
    struct GaveUp: Error {}

    /// The deepest nesting to read, which protects the stack.
    static let deepest = 64

    private let bytes: [UInt8]
    private var depth = 0
    /// The position of the next byte.
    private(set) var place = 0

    init(_ data: Data) {
        bytes = Array(data)
    }

    /// Returns to an earlier position.
    mutating func go(to place: Int) { self.place = place }

    /// Returns the first byte of the next value or punctuation mark, after whitespace.
    mutating func peek() throws(GaveUp) -> UInt8 {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x0A, 0x0D, 0x09: place += 1
            default: return bytes[place]
            }
        }
        throw GaveUp()
    }

    /// Consumes a punctuation mark, such as a comma, if it comes next; returns whether it did.
    mutating func take(_ mark: Unicode.Scalar) throws(GaveUp) -> Bool {
        guard try peek() == UInt8(ascii: mark) else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ mark: Unicode.Scalar) throws(GaveUp) {
        guard try take(mark) else { throw GaveUp() }
    }

    /// Checks that only whitespace is left.
    mutating func end() throws(GaveUp) {
        while place < bytes.count {
            guard [0x20, 0x0A, 0x0D, 0x09].contains(bytes[place]) else { throw GaveUp() }
            place += 1
        }
    }

    /// Reads an object whose members have names from outside.
    ///
    /// - Parameter member: Reads one value; must leave the reader after it.
    /// - Throws: `GaveUp`, and the errors of `member`.
    mutating func object(
        _ member: (inout JSONReader, String) throws(GaveUp) -> Void
    ) throws(GaveUp) {
        try expect("{")
        try enter()
        defer { depth -= 1 }
        if try take("}") { return }
        while true {
            guard try peek() == UInt8(ascii: "\"") else { throw GaveUp() }
            let key = try string()
            try expect(":")
            try member(&self, key)
            if try take("}") { return }
            try expect(",")
        }
    }

    /// The members of a message that its table of keys does not have.
    enum OtherMembers {
        /// A later version's, which mean nothing here.
        case ignored
        /// A later version's, but in the place of an item there may be the error that it failed with.
        case ofItem
        /// Signs of another type of value.
        case refused
    }

    /// Reads an object by a message's table of keys; gives up on keys that occur twice.
    ///
    /// - Parameters:
    ///   - keys: The table, which `Codable` uses too.
    ///   - others: The meaning of other members.
    ///   - member: Reads one value; must leave the reader after it.
    /// - Returns: The keys that were there.
    /// - Throws: `GaveUp`, and the errors of `member`.
    @discardableResult
    mutating func message<Key: CodingKey & Equatable>(
        _ keys: Key.Type,
        others: OtherMembers = .ignored,
        _ member: (inout JSONReader, Key) throws(GaveUp) -> Void
    ) throws(GaveUp) -> [Key] {
        var seen: [Key] = []
        try object { (reader, name) throws(GaveUp) in
            guard let key = Key(stringValue: name) else {
                switch others {
                case .ofItem where name == ItemError.CodingKeys.serverErrorCode.stringValue,
                    .refused:
                    throw GaveUp()
                default: return try reader.skip()
                }
            }
            try member(&reader, key)
            guard !seen.contains(key) else { throw GaveUp() }
            seen.append(key)
        }
        return seen
    }

    /// Reads an array, element by element.
    mutating func array(_ element: (inout JSONReader) throws(GaveUp) -> Void) throws(GaveUp) {
        try expect("[")
        try enter()
        defer { depth -= 1 }
        if try take("]") { return }
        while true {
            try element(&self)
            if try take("]") { return }
            try expect(",")
        }
    }

    private mutating func enter() throws(GaveUp) {
        depth += 1
        guard depth <= Self.deepest else { throw GaveUp() }
    }

    /// Consumes `null` if it comes next; returns whether it did.
    mutating func null() throws(GaveUp) -> Bool {
        guard try peek() == UInt8(ascii: "n") else { return false }
        try literal("null")
        return true
    }

    mutating func bool() throws(GaveUp) -> Bool {
        let isTrue = try peek() == UInt8(ascii: "t")
        try literal(isTrue ? "true" : "false")
        return isTrue
    }

    private mutating func literal(_ word: StaticString) throws(GaveUp) {
        let end = place + word.utf8CodeUnitCount
        guard end <= bytes.count,
            word.withUTF8Buffer({ $0.elementsEqual(bytes[place..<end]) })
        else { throw GaveUp() }
        place = end
    }

    /// Reads a string.
    mutating func string() throws(GaveUp) -> String {
        try expect("\"")
        let start = place
        var allBits: UInt8 = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") {
                defer { place += 1 }
                let contents = bytes[start..<place]
                // ASCII needs no further validation.
                return allBits < 0x80
                    ? String(decoding: contents, as: UTF8.self) : try text(contents)
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else { throw GaveUp() }
            allBits |= byte
            place += 1
        }
        throw GaveUp()
    }

    private mutating func escapedString(from start: Int) throws(GaveUp) -> String {
        var contents = Array(bytes[start..<place])
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return try text(contents[...])
            case UInt8(ascii: "\\"):
                guard place < bytes.count else { throw GaveUp() }
                if bytes[place] == UInt8(ascii: "u") {
                    contents += try escapedCharacter().utf8
                } else if let meant = Self.meaning(ofEscape: bytes[place]) {
                    contents.append(meant)
                    place += 1
                } else {
                    throw GaveUp()
                }
            case 0..<0x20: throw GaveUp()
            default: contents.append(byte)
            }
        }
        throw GaveUp()
    }

    private static func meaning(ofEscape byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Reads the rest of an escape, from its `u` on; characters beyond the first plane have two escapes.
    private mutating func escapedCharacter() throws(GaveUp) -> Character {
        let unit = try escapedUnit()
        if let scalar = Unicode.Scalar(unit) { return Character(scalar) }
        guard UTF16.isLeadSurrogate(unit), place < bytes.count,
            bytes[place] == UInt8(ascii: "\\")
        else { throw GaveUp() }
        place += 1
        let second = try escapedUnit()
        guard UTF16.isTrailSurrogate(second) else { throw GaveUp() }
        let plane = UInt32(unit - 0xD800) << 10 + UInt32(second - 0xDC00)
        guard let scalar = Unicode.Scalar(0x10000 + plane) else { throw GaveUp() }
        return Character(scalar)
    }

    private mutating func escapedUnit() throws(GaveUp) -> UInt16 {
        guard isNext("u"), place + 5 <= bytes.count else { throw GaveUp() }
        var unit: UInt16 = 0
        for byte in bytes[(place + 1)..<(place + 5)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw GaveUp() }
            unit = unit << 4 | UInt16(digit)
        }
        place += 5
        return unit
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws(GaveUp) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw GaveUp() }
        return text
    }
}

extension JSONReader {
    /// A number as written.
    private struct Number {
        var text: Substring
        var isWhole: Bool
    }

    /// Reads a whole number without a fraction or an exponent.
    mutating func integer() throws(GaveUp) -> Int64 {
        let number = try number()
        guard number.isWhole, let value = Int64(number.text) else { throw GaveUp() }
        return value
    }

    /// Reads any number.
    mutating func double() throws(GaveUp) -> Double {
        guard let value = Double(try number().text), value.isFinite else { throw GaveUp() }
        return value
    }

    /// Reads a number without a stated type: whole numbers are integers.
    mutating func numberValue() throws(GaveUp) -> WireValue {
        let number = try number()
        if number.isWhole {
            guard let value = Int64(number.text) else { throw GaveUp() }
            return .int64(value)
        }
        // Foundation accepts 2.0 as an integer; leave the decision to it.
        guard let value = Double(number.text), value.isFinite, value != value.rounded() else {
            throw GaveUp()
        }
        return .double(value)
    }

    private mutating func number() throws(GaveUp) -> Number {
        _ = try peek()
        let start = place
        if isNext("-") { place += 1 }
        if isNext("0") { place += 1 } else { try digits() }
        var isWhole = true
        if isNext(".") {
            place += 1
            isWhole = false
            try digits()
        }
        if isNext("e") || isNext("E") {
            place += 1
            isWhole = false
            if isNext("+") || isNext("-") { place += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        return Number(text: text[...], isWhole: isWhole)
    }

    private func isNext(_ mark: Unicode.Scalar) -> Bool {
        place < bytes.count && bytes[place] == UInt8(ascii: mark)
    }

    private mutating func digits() throws(GaveUp) {
        let start = place
        while place < bytes.count, (0x30...0x39).contains(bytes[place]) { place += 1 }
        guard place > start else { throw GaveUp() }
    }

    /// Skips a value of any kind, and checks that it is JSON.
    mutating func skip() throws(GaveUp) {
        switch try peek() {
        case UInt8(ascii: "{"):
            try object { (reader, _) throws(GaveUp) in try reader.skip() }
        case UInt8(ascii: "["): try array { (reader) throws(GaveUp) in try reader.skip() }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "n"): try literal("null")
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        default: _ = try number()
        }
    }

    /// Reads a value, or nil for null.
    mutating func optional<Value>(
        _ read: (inout JSONReader) throws(GaveUp) -> Value
    ) throws(GaveUp) -> Value? {
        try null() ? nil : try read(&self)
    }

    /// Reads a list of strings.
    mutating func strings() throws(GaveUp) -> [String] {
        var values: [String] = []
        try array { (reader) throws(GaveUp) in values.append(try reader.string()) }
        return values
    }
}
