#if S3
import CloudKitBasics

/// Percent-encoding as signatures require it: every byte but letters, digits, `-`, `_`, `.` and `~`.
package enum S3Encoding {
    /// Returns the text of a query's name or value.
    package static func query(_ text: String) -> String { encoded(text, keepsSlash: false) }

    /// Returns the text of a path, whose slashes stay.
    package static func path(_ text: String) -> String { encoded(text, keepsSlash: true) }

    /// Returns the canonical text of a query, sorted by its encoded names.
    package static func query(_ items: [(name: String, value: String)]) -> String {
        items.map { (query($0.name), query($0.value)) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// Returns the text before percent-encoding; nil for an invalid one.
    package static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let digits = String(bytes: rest.prefix(2)), digits.utf8.count == 2,
                    let value = UInt8(digits, radix: 16), digits.first != "+"
                else { return nil }
                rest = rest.dropFirst(2)
                bytes.append(value)
            default: bytes.append(byte)
            }
        }
        return String(bytes: bytes)
    }

    private static func encoded(_ text: String, keepsSlash: Bool) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "/") where keepsSlash: bytes.append(byte)
            default:
                let (high, low) = Hexadecimal.digits(of: byte, uppercase: true)
                bytes += [UInt8(ascii: "%"), high, low]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// Creates text from bytes; nil if they are not UTF-8.
    fileprivate init?(bytes: some Sequence<UInt8>) {
        self.init(validating: bytes, as: UTF8.self)
    }
}
#endif
