import CloudKitServerCore
import Synchronization

/// A source of a cloud's keys and tokens, which repeats them for the same seed.
package final class SeededRandomness: ServiceRandomness {
    private let generator: Mutex<SeededGenerator>

    package init(seed: UInt64) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    package func bytes(_ count: Int) -> [UInt8] {
        generator.withLock { generator in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 24) }
        }
    }
}
