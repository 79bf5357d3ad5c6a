public import CloudKitServerCore

/// The randomness of the machine, fit for keys.
public struct SystemRandomness: ServiceRandomness {
    /// Makes a source.
    public init() {}

    /// Fresh random bytes.
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
