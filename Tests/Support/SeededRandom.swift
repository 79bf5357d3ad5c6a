import CloudKitServerCore

/// A random number generator whose sequence depends only on its seed.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var generator: SeededGenerator

    /// Creates the sequence of a seed.
    public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Returns the next 64 bits.
    public mutating func next() -> UInt64 { generator.next() }

    /// Returns `true` in a percentage of cases.
    public mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}
