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
