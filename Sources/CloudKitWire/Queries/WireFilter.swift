/// One condition of a query.
public struct WireFilter: Hashable, Sendable, Codable {
    /// The comparison of the field with the value.
    public var comparator: Comparator
    /// The field; either this or `systemFieldName`.
    public var fieldName: String?
    /// The system field; either this or `fieldName`.
    public var systemFieldName: String?
    /// The value to compare the field with.
    public var fieldValue: WireField?
    /// The distance in metres, with `near`.
    public var distance: Double?

    /// Creates a condition on one of the record's own fields.
    public init(
        _ fieldName: String,
        _ comparator: Comparator,
        _ fieldValue: WireValue,
        distance: Double? = nil
    ) {
        self.comparator = comparator
        self.fieldName = fieldName
        self.fieldValue = WireField(fieldValue)
        self.distance = distance
    }

    /// Creates a condition on a system field.
    public init(_ field: SystemField, _ comparator: Comparator, _ fieldValue: WireValue) {
        self.comparator = comparator
        systemFieldName = field.rawValue
        self.fieldValue = WireField(fieldValue)
    }
}
