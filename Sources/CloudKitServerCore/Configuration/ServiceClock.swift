/// The service's only source of time.
public protocol ServiceClock: Sendable {
    /// The time in milliseconds since 1970-01-01 UTC.
    var milliseconds: Int64 { get }
}
