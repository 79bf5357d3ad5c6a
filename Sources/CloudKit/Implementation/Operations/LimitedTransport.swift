import CloudKitWebClient
import Foundation

/// A clock whose waits end with the time limit of a call.
struct LimitedClock<Base: Clock<Duration>>: Clock {
    let base: Base
    let seconds: TimeInterval
    let end: Base.Instant

    /// Creates a clock for a number of seconds; nil if they are no limit.
    init?(_ seconds: TimeInterval?, of base: Base) {
        // A limit of many years is no limit; a duration cannot hold infinity.
        guard let seconds, seconds < 1e9 else { return nil }
        self.base = base
        self.seconds = seconds
        end = base.now.advanced(by: .seconds(max(seconds, 0)))
    }

    var now: Base.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: Base.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: min(deadline, end), tolerance: tolerance)
    }

    /// A description of the missed limit and the remedy.
    var message: String {
        "The operation did not end within \(seconds) seconds; allow more time with "
            + "timeoutIntervalForResource"
    }

    /// Runs a closure until the end of the limit.
    ///
    /// - Throws: The errors of `body`, and `late` when the time is over.
    func hold<Success: Sendable, Failure: Error>(
        late: Failure,
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result = await withTaskGroup(of: Result<Success, Failure>?.self) { group in
            group.addTask {
                do throws(Failure) {
                    return Result.success(try await body())
                } catch {
                    return Result.failure(error)
                }
            }
            group.addTask {
                do {
                    try await base.sleep(until: end, tolerance: nil)
                    return Result.failure(late)
                } catch {
                    // The operation was cancelled: the result of the work counts.
                    return nil
                }
            }
            var first: Result<Success, Failure>?
            while first == nil, let next = await group.next() { first = next }
            group.cancelAll()
            return first
        }
        return try (result ?? .failure(late)).get()
    }
}

/// Runs a closure for at most some seconds of a clock; nil sets no limit.
///
/// - Throws: The errors of `body`, and `CKError.networkFailure` when the time is over.
func within(
    _ seconds: TimeInterval?,
    on clock: some Clock<Duration>,
    _ body: @escaping @Sendable () async throws(CKError) -> Void
) async throws(CKError) {
    guard let limit = LimitedClock(seconds, of: clock) else { return try await body() }
    try await limit.hold(late: CKError(.networkFailure, message: limit.message), body)
}

extension WebClient {
    /// Returns a client for one call, whose requests and the waits between them end after some
    /// seconds; nil sets no limit.
    func limited(to seconds: TimeInterval?) -> WebClient {
        let clock = clock
        return limited(to: seconds, of: clock)
    }

    private func limited(to seconds: TimeInterval?, of time: some Clock<Duration>) -> WebClient {
        guard let limit = LimitedClock(seconds, of: time) else { return self }
        var client = self
        client.transport = LimitedTransport(base: transport, limit: limit)
        client.clock = limit
        return client
    }
}

/// A transport that sends requests until a call's time is over.
private struct LimitedTransport<Base: Clock<Duration>>: Transport {
    let base: any Transport
    let limit: LimitedClock<Base>

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await hold { try await base.send(request) }
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await hold { try await base.upload(file, to: url, progress: progress) }
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await hold { try await base.download(url, to: file, progress: progress) }
    }

    func upload(
        _ file: URL,
        to url: String,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await hold {
            try await base.upload(file, to: url, timeout: timeout, progress: progress)
        }
    }

    func download(
        _ url: String,
        to file: URL,
        size: Int64?,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws {
        try await hold {
            try await base.download(
                url,
                to: file,
                size: size,
                timeout: timeout,
                progress: progress
            )
        }
    }

    private func hold<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        // Not `timedOut`, which a patient client would retry.
        let late: any Error = TransportError(.overdue, message: limit.message)
        // Sends no request whose response nobody waits for.
        guard limit.now < limit.end else { throw late }
        return try await limit.hold(late: late, body)
    }
}
