import CloudKitWire

/// What a schema says of one field.
struct FieldSchema: Hashable, Sendable, Codable {
    /// What can be asked of a field.
    struct Indexes: OptionSet, Hashable, Sendable, Codable {
        let rawValue: Int

        /// Equality.
        static let queryable = Self(rawValue: 1)
        /// Ranges and order.
        static let sortable = Self(rawValue: 2)
        /// Words.
        static let searchable = Self(rawValue: 4)

        /// Indexes that live on the field's values, as against its words.
        static let values: Self = [.queryable, .sortable]
    }

    /// The tag of the field's type.
    private var tag: String
    /// Whether values are encrypted; such a field has no index.
    var isEncrypted: Bool
    /// What can be asked of the field.
    var indexes: Indexes
    /// The field's number in the index table.
    var number: Int64

    init(_ type: FieldType, isEncrypted: Bool = false, indexes: Indexes, number: Int64) {
        tag = type.tag
        self.isEncrypted = isEncrypted
        self.indexes = indexes
        self.number = number
    }

    /// The field's type; the element type of a list that never had an element is open.
    var type: FieldType {
        get { FieldType(tag: tag) ?? FieldType(.string) }
        set { tag = newValue.tag }
    }

    /// The number of the index on values.
    var valueIndex: Int64 { number * 2 }
    /// The number of the index on words.
    var wordIndex: Int64 { number * 2 + 1 }

    /// Every index that makes sense for a type, as a field made just in time gets.
    static func everyIndex(for type: FieldType) -> Indexes {
        switch type.scalar {
        case nil, .asset: []
        case .bytes, .location, .reference: type.isList ? .queryable : .values
        case .string: type.isList ? [.queryable, .searchable] : [.values, .searchable]
        case .int64, .double, .timestamp: type.isList ? .queryable : .values
        }
    }
}
