/// A number with which an engine shows operators how it is doing.
///
/// ```swift
/// StorageMetric("cloudkit_example_connections", .gauge, 8, "Open connections.")
/// ```
public struct StorageMetric: Hashable, Sendable {
    /// The kind of number.
    public enum Kind: String, Sendable {
        /// A sum since the start of the process, which only grows; its name ends with `_total`.
        case counter
        /// A state, which grows and shrinks.
        case gauge
    }

    /// The name, by the rules of Prometheus: lowercase words with underscores, and the unit at the end.
    public var name: String
    /// The kind.
    public var kind: Kind
    /// The number.
    public var value: Double
    /// The meaning, in one sentence.
    public var help: String
    /// The label that distinguishes it from others of the same name; nil if it is the only one.
    public var label: Label?

    /// A name with a value, such as `standby` with a host.
    public struct Label: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a label.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a metric.
    public init(
        _ name: String,
        _ kind: Kind,
        _ value: Double,
        _ help: String,
        label: Label? = nil
    ) {
        self.name = name
        self.kind = kind
        self.value = value
        self.help = help
        self.label = label
    }
}
