/// One key of a query's order.
public struct WireSort: Hashable, Sendable, Codable {
    /// The field; either this or `systemFieldName`.
    public var fieldName: String?
    /// The field that every record has; either this or `fieldName`.
    public var systemFieldName: String?
    /// Whether small values come first; nil means yes.
    public var ascending: Bool?
    /// Where distances are measured from, for a location field.
    public var relativeLocation: WireField?

    /// Makes a key on one of the record's own fields.
    public init(_ fieldName: String, ascending: Bool = true) {
        self.fieldName = fieldName
        self.ascending = ascending
    }

    /// Makes a key on a field that every record has.
    public init(_ field: SystemField, ascending: Bool = true) {
        systemFieldName = field.rawValue
        self.ascending = ascending
    }
}
