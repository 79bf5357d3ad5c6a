import CloudKitServerCore
import Synchronization

/// The source of a cloud's keys and tokens, which repeats them for the same seed.
final class PlanRandomness: ServiceRandomness {
    private let random: Mutex<StoreSimulation.Randomness>

    init(_ seed: UInt64) {
        random = Mutex(StoreSimulation.Randomness(seed: seed))
    }

    func bytes(_ count: Int) -> [UInt8] {
        random.withLock { random in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 24) }
        }
    }
}
