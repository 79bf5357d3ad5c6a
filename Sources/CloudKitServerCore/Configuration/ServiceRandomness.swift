import CloudKitBasics

/// The service's only source of randomness, for keys, tokens and names that cannot be guessed.
public protocol ServiceRandomness: Sendable {
    /// Returns new random bytes.
    func bytes(_ count: Int) -> [UInt8]
}

extension ServiceRandomness {
    /// Returns a random UUID (version 4) in upper case, as the service names records.
    package func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            let digits = Hexadecimal.digits(of: byte, uppercase: true)
            text.append(digits.high)
            text.append(digits.low)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns a random positive number, never zero.
    func identifier() -> Int64 {
        let value = bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(value >> 2) + 1
    }
}
