public import CloudKitServerCore

/// The machine's source of randomness, suitable for keys.
public struct SystemRandomness: ServiceRandomness {
    /// Creates a source.
    public init() {}

    /// Returns new random bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }
}
