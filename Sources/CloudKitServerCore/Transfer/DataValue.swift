import CloudKitBasics

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A value of a row, in the form that is the same for all engines.
package enum DataValue: Hashable, Sendable, Comparable {
    case null
    /// A number; 0 or 1 for a flag.
    case integer(Int64)
    /// Bytes, or those of text.
    case bytes(Data)

    /// Compares two values as the engines do: numbers by size, bytes one by one.
    package static func < (first: Self, second: Self) -> Bool {
        switch (first, second) {
        case (.integer(let first), .integer(let second)): first < second
        case (.bytes(let first), .bytes(let second)): first.lexicographicallyPrecedes(second)
        default: first.rank < second.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .bytes: 2
        }
    }

    /// About how much memory the value takes.
    var size: Int {
        if case .bytes(let bytes) = self { return bytes.count + 32 }
        return 16
    }

    /// Returns the value as people read it.
    func text(_ kind: DataTable.Kind) -> String {
        switch self {
        case .null: return "nothing"
        case .integer(let number): return String(number)
        case .bytes(let bytes):
            if kind == .text, let text = String(data: bytes, encoding: .utf8) { return "'\(text)'" }
            return Hexadecimal.text(bytes)
        }
    }
}

extension DataValue: Codable {
    private enum CodingKeys: String, CodingKey {
        case integer, bytes
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let number = try container.decodeIfPresent(Int64.self, forKey: .integer) {
            self = .integer(number)
        } else if let bytes = try container.decodeIfPresent(Data.self, forKey: .bytes) {
            self = .bytes(bytes)
        } else {
            self = .null
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .null: break
        case .integer(let number): try container.encode(number, forKey: .integer)
        case .bytes(let bytes): try container.encode(bytes, forKey: .bytes)
        }
    }
}
