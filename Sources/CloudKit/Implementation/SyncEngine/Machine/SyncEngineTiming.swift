package import CloudKitWebClient

/// The waits of an engine's automatic operations.
package struct SyncEngineTiming: Hashable, Sendable {
    /// The wait between a pending change and sending it, by which simultaneous changes share a
    /// batch.
    package var sendDelay: Duration = .milliseconds(100)
    /// The waits between retries: a second at first, doubled up to five minutes, half of each being
    /// jitter, because many devices should not return at the same time.
    package var retryPolicy = RetryPolicy.engine

    package init() {}
}
