import Foundation
package import GRDB

/// The encoding of record names in the control tables: UUIDs are bytes.
///
/// A name always has the same encoding, whatever else is known of its record.
package enum StoredName {
    /// The mark between the prefix and the UUIDs, which also encodes their notation.
    private enum Mark: UInt8, CaseIterable {
        case upperAfterColon
        case lowerAfterColon
        case upper
        case lower

        var isLower: Bool { self == .lowerAfterColon || self == .lower }
        var hasColon: Bool { self == .upperAfterColon || self == .lowerAfterColon }
    }

    /// Returns the stored value of a name.
    package static func value(_ name: String) -> DatabaseValue {
        let bytes = Array(name.utf8)
        // Most names are too short to end with a UUID.
        guard bytes.count >= 36 else { return name.databaseValue }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let start = colon.map { $0 + 1 } ?? 0
        // A byte as small as a mark ends the prefix, so the prefix may contain none.
        guard (bytes.count - start) % 37 == 36,
            bytes[..<start].allSatisfy({ $0 > UInt8(Mark.allCases.count) })
        else { return name.databaseValue }
        for mark in Mark.allCases where mark.hasColon == (colon != nil) {
            var packed = Array(bytes[..<(colon ?? 0)])
            packed.append(mark.rawValue)
            if append(bytes[start...], to: &packed, isLower: mark.isLower) {
                return Data(packed).databaseValue
            }
        }
        return name.databaseValue
    }

    /// Returns the name of a stored value.
    package static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .string(let text): text
        case .blob(let data): text(Array(data))
        default: ""
        }
    }

    private static func append(
        _ text: ArraySlice<UInt8>,
        to bytes: inout [UInt8],
        isLower: Bool
    ) -> Bool {
        for start in stride(from: text.startIndex, to: text.endIndex, by: 37) {
            if start > text.startIndex, text[start - 1] != UInt8(ascii: ",") { return false }
            var place = start
            for byte in 0..<16 {
                if [4, 6, 8, 10].contains(byte) {
                    guard text[place] == UInt8(ascii: "-") else { return false }
                    place += 1
                }
                guard let high = digit(text[place], isLower),
                    let low = digit(text[place + 1], isLower)
                else { return false }
                bytes.append(high << 4 | low)
                place += 2
            }
        }
        return true
    }

    private static func digit(_ byte: UInt8, _ isLower: Bool) -> UInt8? {
        let first = UInt8(ascii: isLower ? "a" : "A")
        return switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case first...first + 5: byte - first + 10
        default: nil
        }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        guard let end = bytes.firstIndex(where: { $0 < Mark.allCases.count }),
            let mark = Mark(rawValue: bytes[end])
        else { return "" }
        var name = Array(bytes[..<end])
        if mark.hasColon { name.append(UInt8(ascii: ":")) }
        let first = UInt8(ascii: mark.isLower ? "a" : "A")
        for (place, byte) in bytes[(end + 1)...].enumerated() {
            switch place % 16 {
            case 0 where place > 0: name.append(UInt8(ascii: ","))
            case 4, 6, 8, 10: name.append(UInt8(ascii: "-"))
            default: break
            }
            for digit in [byte >> 4, byte & 0xF] {
                name.append(digit < 10 ? UInt8(ascii: "0") + digit : first + digit - 10)
            }
        }
        return String(decoding: name, as: UTF8.self)
    }
}

/// The encoding of row keys in the control tables, beside their record names: most are a part of the name.
enum StoredKey {
    /// The part of the name that is the key: after the first colon, the whole name, or a list of
    /// the parts after it.
    private enum Part: Int64, CaseIterable {
        case rest
        case whole
        case list

        func text(of name: String) -> String? {
            if self == .whole { return name }
            guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let rest = name[name.utf8.index(after: colon)...]
            guard self == .list else { return String(rest) }
            let parts = rest.utf8.split(
                separator: UInt8(ascii: ","),
                omittingEmptySubsequences: false
            )
            return "[" + parts.map { "\"\(Substring($0))\"" }.joined(separator: ",") + "]"
        }
    }

    /// Returns the stored value of a key.
    static func value(_ key: String?, _ name: String) -> DatabaseValue {
        guard let key else { return .null }
        let part = Part.allCases.first { $0.text(of: name)?.hasSameBytes(as: key) == true }
        return part?.rawValue.databaseValue ?? key.databaseValue
    }

    /// Returns the key of a stored value; nil when there is none.
    static func text(_ value: DatabaseValue, _ name: String) -> String? {
        switch value.storage {
        case .int64(let number): Part(rawValue: number)?.text(of: name)
        case .string(let text): text
        default: nil
        }
    }
}
