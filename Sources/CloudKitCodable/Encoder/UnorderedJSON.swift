import Foundation

/// JSON as `JSONEncoder` writes it, without the order of its arrays.
struct UnorderedJSON {
    private var rest: ArraySlice<UInt8>

    /// Returns whether two texts are the same except for the order of the elements of arrays.
    static func isSame(_ data: Data, _ other: Data) -> Bool {
        data.count == other.count && sorted(data) == sorted(other)
    }

    private static func sorted(_ data: Data) -> [UInt8] {
        var json = UnorderedJSON(rest: Array(data)[...])
        return json.value()
    }

    /// Consumes one value and returns it with its arrays sorted.
    private mutating func value() -> [UInt8] {
        switch rest.first {
        case UInt8(ascii: "["):
            let elements = items { $0.value() }
            let sorted = elements.sorted { $0.lexicographicallyPrecedes($1) }
            return Array(sorted.joined(separator: [0])) + [UInt8(ascii: "]")]
        case UInt8(ascii: "{"):
            // The encoder sorts the keys.
            let members = items { $0.string() + $0.take(1) + $0.value() }
            return Array(members.joined(separator: [0])) + [UInt8(ascii: "}")]
        case UInt8(ascii: "\""): return string()
        default: return take(rest.prefix { !Self.ends.contains($0) }.count)
        }
    }

    private static let ends = Array(",]}".utf8)

    /// Consumes the text between two brackets, item by item.
    private mutating func items(_ item: (inout Self) -> [UInt8]) -> [[UInt8]] {
        var items: [[UInt8]] = []
        _ = take(1)
        while let next = rest.first, next != UInt8(ascii: "]"), next != UInt8(ascii: "}") {
            items.append(item(&self))
            if rest.first == UInt8(ascii: ",") { _ = take(1) }
        }
        _ = take(1)
        return items
    }

    /// Consumes a string with its quotes.
    private mutating func string() -> [UInt8] {
        var length = 1
        var isEscaped = false
        for byte in rest.dropFirst() {
            length += 1
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                break
            }
        }
        return take(length)
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
