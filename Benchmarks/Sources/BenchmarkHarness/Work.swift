/// A piece of work that is timed.
public struct Work: Sendable {
    /// A description of the work of one call.
    public var name: String
    /// The number of units in one call, if subject and floor do different amounts.
    public var units: Double
    /// The work; called many times.
    public var body: @Sendable () async throws -> Void

    /// Creates a piece of work.
    ///
    /// ```swift
    /// Work("50 fields", units: 50) { keep(try decoder.decode(Note.self, from: record)) }
    /// ```
    public init(
        _ name: String,
        units: Double = 1,
        body: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.units = units
        self.body = body
    }
}

/// Prevents the optimiser from removing a computation whose result is not used.
@inline(never)
public func keep<Value>(_ value: Value) {}
