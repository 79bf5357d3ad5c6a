/// The parameters of a URL's query, percent-decoded; the first of several equal names is used.
package struct QueryParameters: Sendable {
    private var values: [String: String] = [:]

    package init(_ query: String?) {
        for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentEncoding.decode(Substring(pair[..<end])), !name.isEmpty,
                let value = PercentEncoding.decode(Substring(pair[end...].dropFirst()))
            else { continue }
            if values[name] == nil { values[name] = value }
        }
    }

    package subscript(_ name: String) -> String? { values[name] }

    /// Returns whether a parameter is true, in any letter case.
    func isTrue(_ name: String) -> Bool { values[name]?.lowercased() == "true" }
}

/// Percent-encoding in URLs.
package enum PercentEncoding {
    /// Decodes text; returns nil if an escape is cut short, not hexadecimal or not UTF-8.
    package static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
