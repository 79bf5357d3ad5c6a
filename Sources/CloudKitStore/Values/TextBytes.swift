import Foundation
import GRDB

/// Text as SQLite has it may hold NUL, and bytes that are no UTF-8. GRDB's strings end at the first
/// NUL, so a string that begins with one stands for such a text: its bytes follow in base 64.
extension DatabaseValue {
    private static let mark: Character = "\0"

    /// Text of some bytes.
    static func text(_ bytes: Data) -> DatabaseValue {
        let isPlain = !bytes.contains(0)
        if isPlain, let text = String(validating: bytes, as: UTF8.self) {
            return text.databaseValue
        }
        return (String(mark) + bytes.base64EncodedString()).databaseValue
    }

    /// The bytes of a text that no string of GRDB is; nil for every other value.
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

    /// What stands for the value in a statement.
    var mark: String { textBytes == nil ? "?" : "CAST(? AS TEXT)" }

    /// What is bound to the mark.
    var bound: DatabaseValue { textBytes?.databaseValue ?? self }

    /// Whether both are of one storage class and have the same bytes.
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
