public import CloudKitServerCore

/// The randomness of the machine, fit for keys.
public struct SystemRandomness: ServiceRandomness {
    /// Makes a source.
    public init() {}

    /// Fresh random bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
