/// Bytes as hexadecimal digits, two for each byte.
package enum Hexadecimal {
    /// Returns the digits of bytes, in lower case by default.
    package static func text(
        _ bytes: some Sequence<UInt8>,
        uppercase: Bool = false
    ) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            let (high, low) = Self.digits(of: byte, uppercase: uppercase)
            digits.append(high)
            digits.append(low)
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns the two digits of a byte in ASCII, for text that is written byte by byte.
    package static func digits(
        of byte: UInt8,
        uppercase: Bool = false
    ) -> (high: UInt8, low: UInt8) {
        (digit(byte >> 4, uppercase), digit(byte & 15, uppercase))
    }

    /// Returns the bytes of digits in either case; nil for an odd number of digits, and for any
    /// other text.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(of: digits[place]), let low = value(of: digits[place + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ value: UInt8, _ uppercase: Bool) -> UInt8 {
        switch value {
        case 0..<10: UInt8(ascii: "0") + value
        default: UInt8(ascii: uppercase ? "A" : "a") + value - 10
        }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
