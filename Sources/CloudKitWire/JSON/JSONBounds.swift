#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Checks the shape of JSON before anything is created from it.
package enum JSONBounds {
    /// Returns the deepest nesting of arrays and objects; skips strings, and checks nothing else.
    ///
    /// Returns nil for text in UTF-16 or UTF-32, which decoders accept too: there quotes cannot be
    /// distinguished from halves of other characters.
    package static func depth(of data: Data) -> Int? {
        data.withUnsafeBytes { depth(of: $0) }
    }

    /// Returns the mistake in data that is not JSON in UTF-8 to the letter of RFC 8259, or in which an
    /// object has a key twice, as the rest of a sentence; nil if there is none.
    ///
    /// Decoders take a comma before a closing bracket, and one of two values of the same key. Where a
    /// message may delete something, its author has to have meant it.
    package static func mistake(in data: Data) -> String? {
        if let depth = depth(of: data), depth > JSONReader.deepest {
            return "nests values \(depth) deep, and \(JSONReader.deepest) is the most"
        }
        var reader = JSONReader(data)
        var repeated: String?
        do {
            try check(&reader, &repeated)
            try reader.end()
            return nil
        } catch {
            return repeated.map { "has the key '\($0)' twice" }
                ?? "is not JSON from byte \(reader.place + 1) on"
        }
    }

    private static func check(
        _ reader: inout JSONReader,
        _ repeated: inout String?
    ) throws(JSONReader.GaveUp) {
        var (found, keys) = (repeated, Set<String>())
        defer { repeated = found }
        switch try reader.peek() {
        case UInt8(ascii: "{"):
            try reader.object { (reader, key) throws(JSONReader.GaveUp) in
                guard keys.insert(key).inserted else {
                    found = key
                    throw JSONReader.GaveUp()
                }
                try check(&reader, &found)
            }
        case UInt8(ascii: "["):
            try reader.array { (reader) throws(JSONReader.GaveUp) in
                try check(&reader, &found)
            }
        default: try reader.skip()
        }
    }

    private static func depth(of bytes: UnsafeRawBufferPointer) -> Int? {
        var depth = 0
        var deepest = 0
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            // A zero byte never occurs in JSON in UTF-8, but in every bracket of the other
            // encodings.
            if byte == 0 { return nil }
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return deepest
    }
}
