/// Something whose time is taken.
public struct Work: Sendable {
    /// How one call does a number of units of work.
    public var name: String
    /// What one call counts for, where subject and floor do different amounts.
    public var units: Double
    /// The work; called many times.
    public var body: @Sendable () async throws -> Void

    /// Makes a piece of work.
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

/// Keeps the optimiser from removing a computation whose result nobody reads.
@inline(never)
public func keep<Value>(_ value: Value) {}
