/// Where a service keeps everything but the bytes of assets.
///
/// An engine knows no rule of the service: it stores rows and finds them again, in order. What it
/// must promise is checked by one suite for all engines:
///
/// - `write` runs its closure atomically, one at a time; when the closure throws, nothing that it
///   wrote remains and the error is passed on unchanged. When `write` returns, the data is durable.
/// - `read` runs its closure on one consistent snapshot that holds every write that returned
///   before the read began.
public protocol Storage: Sendable {
    /// Runs a closure on one consistent state of the data.
    ///
    /// - Throws: What the closure throws, or `StorageError`.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value

    /// Runs a closure whose changes are kept as a whole or not at all.
    ///
    /// It may run more than once, each time on a state without what it wrote before.
    ///
    /// - Throws: What the closure throws, or `StorageError`; then nothing was changed.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value

    /// Runs a closure as `write` does, but never beside other writes, which may pass it while it waits:
    /// for what takes so long that others should not wait for it.
    ///
    /// - Throws: What the closure throws, or `StorageError`; then nothing was changed.
    func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value

    /// Where requests run that read: threads that may wait; nil where reads never wait.
    var threads: (any TaskExecutor)? { get }

    /// A number that differs after every commit of others: of another process, or through another
    /// opening of the same file. Nil where there can be no others.
    ///
    /// - Throws: `StorageError`.
    func foreignChanges() async throws -> Int64?
}

extension Storage {
    /// Every write is alone.
    public func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await write(body)
    }

    /// Reads never wait.
    public var threads: (any TaskExecutor)? { nil }

    /// Nobody else writes.
    public func foreignChanges() async throws -> Int64? { nil }
}
