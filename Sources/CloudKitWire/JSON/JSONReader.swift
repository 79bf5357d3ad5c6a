#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads JSON straight from bytes, for the messages that carry many records.
///
/// It reads the common forms and gives up on everything else: bytes that are no JSON, keys that come
/// twice, numbers out of range, values of another type than their tag says. Whoever uses it then asks
/// `JSONDecoder`, which reads the rest, or says what is wrong and where. So this reader only has to be
/// right about what it accepts.
struct JSONReader {
    /// Something that this reader leaves to `JSONDecoder`.
    struct Unusual: Error {}

    /// A key as it stands in the bytes, between its quotes.
    struct Key {
        fileprivate let bytes: UnsafeBufferPointer<UInt8>

        static func == (key: Key, name: StaticString) -> Bool {
            guard key.bytes.count == name.utf8CodeUnitCount else { return false }
            let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            return key.bytes.elementsEqual(name)
        }
    }

    /// Nesting that is still read.
    private static let deepest = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0
    private var depth = 0

    /// Reads a whole message; nil for one that only `JSONDecoder` can judge.
    static func read<Message: JSONReadable>(_ type: Message.Type, from data: Data) -> Message? {
        data.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: UInt8.self) { bytes in
                var reader = JSONReader(bytes: bytes)
                guard let message = try? Message(json: &reader), reader.isAtEnd else { return nil }
                return message
            }
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    // MARK: Structure

    /// Reads an object, member by member; each call must read the member's value.
    mutating func object(
        _ member: (Key, inout JSONReader) throws(Unusual) -> Void
    ) throws(Unusual) {
        try open(UInt8(ascii: "{"))
        if !accept(UInt8(ascii: "}")) {
            repeat {
                let key = Key(bytes: try plainString())
                try expect(UInt8(ascii: ":"))
                try member(key, &self)
            } while accept(UInt8(ascii: ","))
            try expect(UInt8(ascii: "}"))
        }
        depth -= 1
    }

    /// Reads an array, element by element.
    mutating func array<Element>(
        _ element: (inout JSONReader) throws(Unusual) -> Element
    ) throws(Unusual) -> [Element] {
        try open(UInt8(ascii: "["))
        var elements: [Element] = []
        if !accept(UInt8(ascii: "]")) {
            repeat { elements.append(try element(&self)) } while accept(UInt8(ascii: ","))
            try expect(UInt8(ascii: "]"))
        }
        depth -= 1
        return elements
    }

    /// Sets a member that may be null and must not come twice.
    mutating func set<Value>(
        _ member: inout Value?,
        _ value: (inout JSONReader) throws(Unusual) -> Value
    ) throws(Unusual) {
        guard member == nil else { throw Unusual() }
        if !acceptNull() { member = try value(&self) }
    }

    /// The rest of an optional type's value.
    func required<Value>(_ value: Value?) throws(Unusual) -> Value {
        guard let value else { throw Unusual() }
        return value
    }

    /// Passes a value over, and gives a reader that stands before it.
    mutating func skip() throws(Unusual) -> JSONReader {
        let before = self
        switch peek() {
        case UInt8(ascii: "{"):
            try object { _, json throws(Unusual) in _ = try json.skip() }
        case UInt8(ascii: "["): _ = try array { json throws(Unusual) in _ = try json.skip() }
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        case UInt8(ascii: "n"): guard acceptNull() else { throw Unusual() }
        default: _ = try number()
        }
        return before
    }

    // MARK: Scalars

    mutating func bool() throws(Unusual) -> Bool {
        if accept("true") { return true }
        if accept("false") { return false }
        throw Unusual()
    }

    mutating func acceptNull() -> Bool { accept("null") }

    mutating func integer() throws(Unusual) -> Int64 {
        let text = try number()
        var digits = text[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits = digits.dropFirst() }
        // Eighteen digits always fit.
        guard digits.count <= 18 else { throw Unusual() }
        var value: Int64 = 0
        for byte in digits {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { throw Unusual() }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }

    mutating func double() throws(Unusual) -> Double {
        guard let value = Double(String(decoding: try number(), as: UTF8.self)), value.isFinite
        else { throw Unusual() }
        return value
    }

    /// The bytes of a number, by JSON's grammar.
    private mutating func number() throws(Unusual) -> UnsafeBufferPointer<UInt8> {
        skipSpace()
        let start = place
        if current == UInt8(ascii: "-") { place += 1 }
        let first = current
        let whole = skipDigits()
        guard whole > 0, whole == 1 || first != UInt8(ascii: "0") else { throw Unusual() }
        if current == UInt8(ascii: ".") {
            place += 1
            guard skipDigits() > 0 else { throw Unusual() }
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            place += 1
            if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { place += 1 }
            guard skipDigits() > 0 else { throw Unusual() }
        }
        return UnsafeBufferPointer(rebasing: bytes[start..<place])
    }

    private mutating func skipDigits() -> Int {
        let start = place
        while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            place += 1
        }
        return place - start
    }

    // MARK: Strings

    mutating func string() throws(Unusual) -> String {
        let start = place
        if let plain = try? plainString() { return try Self.text(plain) }
        place = start
        return try escapedString()
    }

    /// A key as text.
    func text(_ key: Key) throws(Unusual) -> String { try Self.text(key.bytes) }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) throws(Unusual) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Unusual() }
        return text
    }

    /// The bytes of a string without escapes.
    private mutating func plainString() throws(Unusual) -> UnsafeBufferPointer<UInt8> {
        try expect(UInt8(ascii: "\""))
        let start = place
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") {
                place += 1
                return UnsafeBufferPointer(rebasing: bytes[start..<place - 1])
            }
            if byte == UInt8(ascii: "\\") || byte < 0x20 { throw Unusual() }
            place += 1
        }
        throw Unusual()
    }

    private mutating func skipString() throws(Unusual) {
        let start = place
        if (try? plainString()) != nil { return }
        place = start
        _ = try escapedString()
    }

    private mutating func escapedString() throws(Unusual) -> String {
        try expect(UInt8(ascii: "\""))
        var text: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return try text.withUnsafeBufferPointer(Self.validated)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw Unusual()
            default: text.append(byte)
            }
        }
        throw Unusual()
    }

    private static func validated(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(Unusual) -> String { try text(bytes) }

    private mutating func escape(into text: inout [UInt8]) throws(Unusual) {
        let byte = try required(current)
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"): text.append(contentsOf: try unicodeEscape().utf8)
        default: throw Unusual()
        }
    }

    private mutating func unicodeEscape() throws(Unusual) -> String {
        var units = [try codeUnit()]
        if UTF16.isLeadSurrogate(units[0]) {
            try expectHere(UInt8(ascii: "\\"))
            try expectHere(UInt8(ascii: "u"))
            units.append(try codeUnit())
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw Unusual() }
        return text
    }

    private mutating func codeUnit() throws(Unusual) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let digit = Character(Unicode.Scalar(try required(current))).hexDigitValue
            place += 1
            unit = unit << 4 | UInt16(try required(digit))
        }
        return unit
    }

    // MARK: Bytes

    private var current: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func peek() -> UInt8? {
        skipSpace()
        return current
    }

    private mutating func skipSpace() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x0A, 0x0D, 0x09: place += 1
            default: return
            }
        }
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        place += 1
        return true
    }

    private mutating func accept(_ word: StaticString) -> Bool {
        guard peek() == word.utf8Start[0], bytes.count - place >= word.utf8CodeUnitCount else {
            return false
        }
        for index in 0..<word.utf8CodeUnitCount
        where bytes[place + index] != word.utf8Start[index] { return false }
        place += word.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(Unusual) {
        guard accept(byte) else { throw Unusual() }
    }

    private mutating func expectHere(_ byte: UInt8) throws(Unusual) {
        guard current == byte else { throw Unusual() }
        place += 1
    }

    private mutating func open(_ bracket: UInt8) throws(Unusual) {
        try expect(bracket)
        depth += 1
        guard depth <= Self.deepest else { throw Unusual() }
    }

    private var isAtEnd: Bool {
        var rest = self
        return rest.peek() == nil
    }
}
