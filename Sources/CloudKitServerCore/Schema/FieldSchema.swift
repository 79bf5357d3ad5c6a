import CloudKitWire

/// A field of a schema.
struct FieldSchema: Hashable, Sendable {
    /// The kinds of queries that a field supports.
    struct Indexes: OptionSet, Hashable, Sendable, Codable {
        let rawValue: Int

        /// Queries for equal values.
        static let queryable = Self(rawValue: 1)
        /// Queries for ranges, and sorting.
        static let sortable = Self(rawValue: 2)
        /// Queries for words.
        static let searchable = Self(rawValue: 4)

        /// The indexes on the field's values, as opposed to its words.
        static let values: Self = [.queryable, .sortable]
    }

    /// The field's type; the element type of a list that never had an element is undetermined.
    var type: FieldType
    /// `true` when values are encrypted; such a field has no index.
    var isEncrypted: Bool
    /// The field's indexes.
    var indexes: Indexes
    /// The field's number in the index table.
    var number: Int64

    init(_ type: FieldType, isEncrypted: Bool = false, indexes: Indexes, number: Int64) {
        self.type = type
        self.isEncrypted = isEncrypted
        self.indexes = indexes
        self.number = number
    }

    // Negative numbers belong to indexes whose keys once had another format, under the same numbers
    // above 0: see IndexForm.

    /// The number of the index on values.
    var valueIndex: Int64 { type.scalar == .reference ? -oldValueIndex : oldValueIndex }
    /// The number of the index on words.
    var wordIndex: Int64 { -oldWordIndex }

    /// The number of the index on values in version 1.
    var oldValueIndex: Int64 { number * 2 }
    /// The number of the index on words in version 1.
    var oldWordIndex: Int64 { number * 2 + 1 }

    /// All indexes that may have entries of the field, including those of older databases.
    var everyIndex: Set<Int64> { [valueIndex, wordIndex, oldValueIndex, oldWordIndex] }

    /// Returns every index that applies to a type, which a field created just in time gets.
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
