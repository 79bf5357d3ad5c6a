/// Chance that a seed determines (SplitMix64).
struct SeededChance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// True in about one of `of` cases.
    mutating func one(of count: Int) -> Bool { Int(next() % UInt64(count)) == 0 }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }
}
