import CloudKitServerCore
import Synchronization

/// Chance that is the same for the same seed: SplitMix64.
struct SeededChance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
}

/// The cloud's keys and tokens, the same for the same seed.
final class SeededRandomness: ServiceRandomness {
    private let chance: Mutex<SeededChance>

    init(seed: UInt64) {
        chance = Mutex(SeededChance(seed: seed))
    }

    func bytes(_ count: Int) -> [UInt8] {
        chance.withLock { chance in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next() >> 24) }
        }
    }
}
