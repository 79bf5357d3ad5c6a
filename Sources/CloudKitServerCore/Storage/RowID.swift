/// The number by which an engine knows a row; clients never see it.
public struct RowID<Row>: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    public var rawValue: Int64

    /// Makes an identity from the engine's number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Orders rows by number.
    public static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}
