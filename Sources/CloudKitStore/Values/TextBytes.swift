import Foundation
import GRDB

/// SQLite's text may contain NUL, and invalid UTF-8.
///
/// GRDB's strings end at the first NUL, so a string that begins with one represents such a text:
/// its bytes follow in base 64.
extension DatabaseValue {
    private static let mark: Character = "\0"

    /// Returns the text with some bytes.
    static func text(_ bytes: Data) -> DatabaseValue {
        let isPlain = !bytes.contains(0)
        if isPlain, let text = String(validating: bytes, as: UTF8.self) {
            return text.databaseValue
        }
        return (String(mark) + bytes.base64EncodedString()).databaseValue
    }

    /// The bytes of a text that a GRDB string cannot represent; nil for every other value.
    var textBytes: Data? {
        guard case .string(let text) = storage, text.utf8.first == 0 else { return nil }
        return Data(base64Encoded: String(text.dropFirst()))
    }

    /// The bytes of a text or a blob.
    var allBytes: Data? {
        switch storage {
        case .string(let text): textBytes ?? Data(text.utf8)
        case .blob(let data): data
        default: nil
        }
    }

    /// The SQL placeholder of the value.
    var mark: String { textBytes == nil ? "?" : "CAST(? AS TEXT)" }

    /// The value to bind to the placeholder.
    var bound: DatabaseValue { textBytes?.databaseValue ?? self }

    /// Returns whether both have the same storage class and bytes.
    func isSame(as other: DatabaseValue) -> Bool {
        switch (storage, other.storage) {
        case (.null, .null): true
        case (.int64(let one), .int64(let other)): one == other
        case (.double(let one), .double(let other)): one.bitPattern == other.bitPattern
        case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }
}

/// Parts of a text in its bytes.
extension ArraySlice<UInt8> {
    /// The bytes as text.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// Returns the parts before and after the first occurrence of a byte; nil when there is none.
    func pair(at separator: UInt8) -> (ArraySlice, ArraySlice)? {
        guard let place = firstIndex(of: separator) else { return nil }
        return (self[..<place], self[(place + 1)...])
    }

    /// Removes and returns the part before the first occurrence of a byte, and removes the byte;
    /// everything when there is none.
    mutating func removePart(before separator: UInt8) -> ArraySlice {
        let place = firstIndex(of: separator) ?? endIndex
        defer { self = self[place...].dropFirst() }
        return self[..<place]
    }
}
