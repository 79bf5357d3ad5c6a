/// A storage for all data of a service except the bytes of assets.
///
/// An engine contains no rule of the service: it stores rows and finds them again, in order. A
/// single test suite checks these requirements for all engines:
///
/// - `write` runs its closure atomically, one at a time; when the closure throws, all of its writes
///   are undone and the error is passed on unchanged. When `write` returns, the data is durable.
/// - `read` runs its closure on one consistent snapshot that contains every write that returned
///   before the read began.
public protocol Storage: Sendable {
    /// Runs a closure on one consistent state of the data.
    ///
    /// - Throws: The error of the closure, or `StorageError`.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value

    /// Runs a closure whose changes are kept entirely or not at all.
    ///
    /// It may run more than once, each time on a state without its earlier writes. Once the engine
    /// has noticed damage, it does not run at all: the error has the code ``StorageError/Code/damaged``.
    ///
    /// - Throws: The error of the closure, or `StorageError`; nothing changes then.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value

    /// Runs a closure on one consistent state of the data, and announces what it is going to read.
    ///
    /// An engine that answers without waiting does not ask for the needs.
    ///
    /// - Throws: The error of the closure, or `StorageError`.
    func read<Value: Sendable>(
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value

    /// Runs a closure whose changes are kept entirely or not at all, and announces what it is going
    /// to change and to read.
    ///
    /// - Parameters:
    ///   - scope: The rows that the closure changes at most.
    ///   - needs: The rows that it is going to read.
    ///   - body: The closure, which may run more than once.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or `StorageError`; nothing changes then.
    func write<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value

    /// Runs a closure in the same way as `write`, but never together with other writes.
    ///
    /// Use it for work that takes so long that others should not wait for it; they may overtake it
    /// while it waits.
    ///
    /// - Throws: The error of the closure, or `StorageError`; nothing changes then.
    func writeExclusively<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value

    /// Runs a closure in the same way as `writeExclusively`, and announces what it is going to change
    /// and to read: others that change something else need not wait for it at all.
    ///
    /// - Throws: The error of the closure, or `StorageError`; nothing changes then.
    func writeExclusively<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value

    /// The executor of requests that read, with threads that may block; `nil` if reads never block.
    var threads: (any TaskExecutor)? { get }

    /// Returns a number that changes with every commit by others: by another process, or through
    /// another connection to the same database; `nil` if there can be no others, or if
    /// ``foreignChanges()`` reports them.
    ///
    /// - Throws: `StorageError`.
    func externalChangeCount() async throws -> Int64?

    /// Returns the changes by others as they are made; `nil` if the engine is not notified of them.
    ///
    /// A change is in the stream a moment after it was committed. While an engine receives no
    /// notifications, and once it receives them again, the stream has ``ForeignChanges/unknown``, so
    /// that whoever reads it misses none.
    func foreignChanges() -> AsyncStream<ForeignChanges>?

    /// A description of damage that the engine has noticed in its own data; `nil` for none.
    var damage: String? { get }

    /// Looks for damage until all data was checked or the time is over; ``damage`` has the result.
    func lookForDamage(within limit: Duration) async

    /// Returns the numbers that operators watch, those of the same name together.
    ///
    /// It returns soon, whatever state the engine is in, and leaves out what it cannot find out then.
    func metrics() async -> [StorageMetric]
}

extension Storage {
    /// Runs a closure as a read, which is answered without waiting.
    public func read<Value: Sendable>(
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await read(body)
    }

    /// Runs a closure as a write; writes run one after the other, whatever they change.
    public func write<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await write(body)
    }

    /// Runs a closure as a write; every write runs alone.
    public func writeExclusively<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await write(body)
    }

    /// Runs a closure as an exclusive write, whatever it changes.
    public func writeExclusively<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await writeExclusively(body)
    }

    /// The executor, which is `nil` because reads never block.
    public var threads: (any TaskExecutor)? { nil }

    /// Returns `nil` because there are no other writers.
    public func externalChangeCount() async throws -> Int64? { nil }

    /// Returns `nil` because the engine is not notified of changes by others.
    public func foreignChanges() -> AsyncStream<ForeignChanges>? { nil }

    /// The damage, which is `nil` because the engine does not check itself.
    public var damage: String? { nil }

    /// Returns immediately because the engine does not check itself.
    public func lookForDamage(within limit: Duration) async {}

    /// Returns no numbers.
    public func metrics() async -> [StorageMetric] { [] }
}
