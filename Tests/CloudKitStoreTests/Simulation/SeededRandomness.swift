import CloudKitServerCore
import Support
import Synchronization

extension SeededRandom {
    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
}

/// A source of the cloud's keys and tokens that repeats them for the same seed.
final class SeededRandomness: ServiceRandomness {
    private let chance: Mutex<SeededRandom>

    init(seed: UInt64) {
        chance = Mutex(SeededRandom(seed: seed))
    }

    func bytes(_ count: Int) -> [UInt8] {
        chance.withLock { chance in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next() >> 24) }
        }
    }
}
