/// One condition of a query.
public struct WireFilter: Hashable, Sendable, Codable {
    /// How the field is compared.
    public var comparator: Comparator
    /// The field; either this or `systemFieldName`.
    public var fieldName: String?
    /// The field that every record has; either this or `fieldName`.
    public var systemFieldName: String?
    /// What the field is compared with.
    public var fieldValue: WireField?
    /// Metres, with `near`.
    public var distance: Double?

    /// Makes a condition on one of the record's own fields.
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

    /// Makes a condition on a field that every record has.
    public init(_ field: SystemField, _ comparator: Comparator, _ fieldValue: WireValue) {
        self.comparator = comparator
        systemFieldName = field.rawValue
        self.fieldValue = WireField(fieldValue)
    }
}
