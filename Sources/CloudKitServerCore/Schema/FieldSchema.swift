import CloudKitWire

/// What a schema says of one field.
struct FieldSchema: Hashable, Sendable {
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

    /// The field's type; the element type of a list that never had an element is open.
    var type: FieldType
    /// Whether values are encrypted; such a field has no index.
    var isEncrypted: Bool
    /// What can be asked of the field.
    var indexes: Indexes
    /// The field's number in the index table.
    var number: Int64

    init(_ type: FieldType, isEncrypted: Bool = false, indexes: Indexes, number: Int64) {
        self.type = type
        self.isEncrypted = isEncrypted
        self.indexes = indexes
        self.number = number
    }

    // Numbers below 0 are of indexes whose keys once had another form, under the same numbers above
    // 0: see IndexForm.

    /// The number of the index on values.
    var valueIndex: Int64 { type.scalar == .reference ? -oldValueIndex : oldValueIndex }
    /// The number of the index on words.
    var wordIndex: Int64 { -oldWordIndex }

    /// The number that the index on values had at first.
    var oldValueIndex: Int64 { number * 2 }
    /// The number that the index on words had at first.
    var oldWordIndex: Int64 { number * 2 + 1 }

    /// All indexes that may hold entries of the field, those of older files among them.
    var everyIndex: Set<Int64> { [valueIndex, wordIndex, oldValueIndex, oldWordIndex] }

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

extension FieldSchema: Codable {
    private enum CodingKeys: CodingKey {
        case tag, isEncrypted, indexes, number
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let tag = try container.decode(String.self, forKey: .tag)
        self.init(
            FieldType(tag: tag) ?? FieldType(.string),
            isEncrypted: try container.decode(Bool.self, forKey: .isEncrypted),
            indexes: try container.decode(Indexes.self, forKey: .indexes),
            number: try container.decode(Int64.self, forKey: .number)
        )
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type.tag, forKey: .tag)
        try container.encode(isEncrypted, forKey: .isEncrypted)
        try container.encode(indexes, forKey: .indexes)
        try container.encode(number, forKey: .number)
    }
}
