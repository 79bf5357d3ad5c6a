import ArgumentParser
import UnixSignals

/// Work that a signal cancels instead of ending the process, so that nothing stays behind.
enum Interruptible {
    private enum End<Value: Sendable>: Sendable {
        case done(Value)
        case signal(UnixSignal)
    }

    /// Runs work that Ctrl-C or SIGTERM cancels.
    ///
    /// - Returns: The result of the work, even if a signal came too late to cancel it.
    /// - Throws: The error of the work, or `ExitCode` with 128 and the signal's number.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: End<Value>.self) { group in
            group.addTask { .done(try await body()) }
            group.addTask {
                for await signal in signals { return .signal(signal) }
                throw CancellationError()
            }
            let first = try await group.next()
            group.cancelAll()
            switch first {
            case .done(let value): return value
            case .signal(let signal):
                if case .success(.done(let value))? = await group.nextResult() { return value }
                throw ExitCode(128 + signal.rawValue)
            case nil: throw CancellationError()
            }
        }
    }
}
