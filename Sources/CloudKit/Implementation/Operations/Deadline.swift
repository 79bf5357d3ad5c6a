import Foundation

/// Does something for at most some seconds of a clock; nil for as long as it takes.
///
/// - Throws: What `body` throws, and `CKError.networkFailure` when the time is over.
func within(
    _ seconds: TimeInterval?,
    on clock: any Clock<Duration>,
    _ body: @escaping @Sendable () async throws(CKError) -> Void
) async throws(CKError) {
    // What is longer than anybody waits is no limit; a duration cannot hold infinity.
    guard let seconds, seconds < 1e9 else { return try await body() }
    let result = await withTaskGroup(of: Result<Void, CKError>?.self) { group in
        group.addTask {
            do throws(CKError) {
                try await body()
                return Result.success(())
            } catch {
                return Result.failure(error)
            }
        }
        group.addTask {
            do {
                try await clock.sleep(for: .seconds(max(seconds, 0)))
                return Result.failure(
                    CKError(
                        .networkFailure,
                        message: "The operation did not end within \(seconds) seconds; give it "
                            + "more with timeoutIntervalForResource"
                    )
                )
            } catch {
                // The operation was cancelled: what the work says of it counts.
                return nil
            }
        }
        var first: Result<Void, CKError>?
        while first == nil, let next = await group.next() { first = next }
        group.cancelAll()
        return first
    }
    try result?.get()
}
