/// The number with which an engine identifies a row; clients never see it.
public struct RowID<Row>: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    public var rawValue: Int64

    /// Creates an ID from the engine's number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Returns whether the first row has the lower number.
    public static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}
