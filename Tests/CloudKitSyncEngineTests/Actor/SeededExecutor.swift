import Dispatch
import Support
import Synchronization

/// Runs the jobs of tasks one at a time, in an order that a seed determines.
final class SeededExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var chance: SeededRandom
    }

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "seeded executor")

    init(seed: UInt64) {
        state = Mutex(State(chance: SeededRandom(seed: seed)))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs jobs until there are none.
    func drain() async {
        // On its own thread, because the test's task runs on this one.
        await withCheckedContinuation { continuation in
            queue.async {
                while let job = self.next() {
                    job.runSynchronously(on: self.asUnownedTaskExecutor())
                }
                continuation.resume()
            }
        }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.jobs.isEmpty else { return nil }
            return state.jobs.remove(at: state.chance.number(0...state.jobs.count - 1))
        }
    }
}
