import CloudKitBasics

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Writes JSON directly as bytes, for responses whose parts are JSON already.
///
/// The caller must open and close in pairs; commas are added automatically.
package struct JSONWriter {
    private var bytes: [UInt8] = []
    private var needsComma = false

    /// Creates an empty writer.
    package init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// The written bytes.
    package var data: Data { Data(bytes) }

    /// Opens an object.
    package mutating func openObject() { open("{") }
    /// Closes an object.
    package mutating func closeObject() { close("}") }
    /// Opens an array.
    package mutating func openArray() { open("[") }
    /// Closes an array.
    package mutating func closeArray() { close("]") }

    /// Writes the key of the value that follows, a name from outside.
    package mutating func key(named key: String) {
        string(key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes the key of the value that follows, one of a message's table.
    @inlinable
    @inline(__always)
    package mutating func key(_ key: some CodingKey) { write(key: key.stringValue) }

    /// Writes a key in which nothing needs an escape.
    @usableFromInline
    mutating func write(key: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var key = key
        key.withUTF8 { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a key and a string, or nothing for nil.
    @inlinable
    @inline(__always)
    package mutating func member(_ key: some CodingKey, _ value: String?) {
        guard let value else { return }
        self.key(key)
        string(value)
    }

    /// Writes a key and an integer, or nothing for nil.
    @inlinable
    @inline(__always)
    package mutating func member(_ key: some CodingKey, _ value: Int64?) {
        guard let value else { return }
        self.key(key)
        integer(value)
    }

    /// Writes a key and a number, or nothing for nil.
    @inlinable
    @inline(__always)
    package mutating func member(_ key: some CodingKey, _ value: Double?) {
        guard let value else { return }
        self.key(key)
        double(value)
    }

    /// Writes a key and a Boolean value, or nothing for nil.
    @inlinable
    @inline(__always)
    package mutating func member(_ key: some CodingKey, _ value: Bool?) {
        guard let value else { return }
        self.key(key)
        bool(value)
    }

    /// Writes an integer.
    package mutating func integer(_ value: Int64) { literal(String(value)) }

    /// Writes a number; others than finite ones, which JSON lacks, become null.
    package mutating func double(_ value: Double) {
        literal(value.isFinite ? value.description : "null")
    }

    /// Writes a Boolean value.
    package mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

    /// Writes null.
    package mutating func null() { literal("null") }

    /// Copies bytes that already are one JSON value.
    package mutating func json(_ value: Data) {
        separate()
        value.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Writes a string with its quotes and escapes.
    package mutating func string(_ value: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { utf8 in
            // Without an early exit, the compiler compares many bytes at a time.
            var escapes: UInt8 = 0
            for byte in utf8 { escapes |= Self.needsEscape(byte) ? 1 : 0 }
            if escapes == 0 { bytes.append(contentsOf: utf8) } else { appendEscaped(utf8) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ utf8: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for (index, byte) in utf8.enumerated() where Self.needsEscape(byte) {
            bytes.append(contentsOf: utf8[start..<index])
            appendEscape(of: byte)
            start = index + 1
        }
        bytes.append(contentsOf: utf8[start...])
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscape(of byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case UInt8(ascii: "\n"): bytes += Array(#"\n"#.utf8)
        case UInt8(ascii: "\r"): bytes += Array(#"\r"#.utf8)
        case UInt8(ascii: "\t"): bytes += Array(#"\t"#.utf8)
        default:
            let digits = Hexadecimal.digits(of: byte)
            bytes += Array(#"\u00"#.utf8)
            bytes += [digits.high, digits.low]
        }
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}
