/// The service's only source of randomness: keys, tokens and names that nobody may guess.
public protocol ServiceRandomness: Sendable {
    /// Fresh random bytes.
    func bytes(_ count: Int) -> [UInt8]
}

extension ServiceRandomness {
    /// A random UUID (version 4) in upper case, as the service names records.
    func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Hexadecimal.encode(bytes).uppercased())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            .joined(separator: "-")
    }

    /// A random positive number, never zero.
    func identifier() -> Int64 {
        let value = bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(value >> 2) + 1
    }
}
