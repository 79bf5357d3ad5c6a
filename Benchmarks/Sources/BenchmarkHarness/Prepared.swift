/// An input that several benchmarks share, created when the first of them requests it.
///
/// ```swift
/// let cloud = Prepared { try await StoreCloud(rows: 100_000) }
/// return [.rate("first-sync", .atLeast(0.4)) { (sync(try await cloud.value), inserts) }]
/// ```
public actor Prepared<Value: Sendable> {
    private let make: @Sendable () async throws -> Value
    private var task: Task<Value, any Error>?

    /// Creates an input that does not exist yet.
    public init(_ make: @escaping @Sendable () async throws -> Value) {
        self.make = make
    }

    /// The input; throws the error of its creation.
    public var value: Value {
        get async throws {
            let task = self.task ?? Task { [make] in try await make() }
            self.task = task
            return try await task.value
        }
    }
}
