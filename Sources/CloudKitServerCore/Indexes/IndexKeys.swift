import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The index entries of records of one type.
struct IndexKeys {
    private let type: RecordTypeSchema
    private let indexed: [(name: String, field: FieldSchema)]

    init(_ type: RecordTypeSchema) {
        self.type = type
        indexed = type.indexedFields
    }

    /// The number of entries of every record, if it does not depend on the fields' values.
    var fixedCount: Int? {
        guard type.number != 0 else { return 0 }
        for (_, field) in indexed where field.type.isList || field.indexes.contains(.searchable) {
            return nil
        }
        return 1 + indexed.count
    }

    /// Returns the maximum number of entries that a record can have.
    func mostEntries(of head: StoredRecordHead) -> Int {
        if let fixedCount { return fixedCount }
        // Each element and each word takes at least a byte.
        return 1 + 2 * (indexed.count + head.fieldBytes)
    }

    /// Returns all entries of a record, each once.
    func entries(
        of record: StoredRecord,
        _ fields: RecordFields,
        _ home: ReferenceHome
    ) -> [IndexEntry] {
        let name = IndexKey.text(record.name)
        // Shares have no type in the schema.
        guard type.number != 0 else { return [] }
        var entries: [IndexEntry] = []
        entries.reserveCapacity(2 * indexed.count)
        entries.append(IndexEntry(index: type.nameIndex, key: name, record: record.id))
        for (name, field) in indexed {
            let value = value(name, of: record, fields).map(home.normalized)
            if !field.indexes.isDisjoint(with: .values) {
                for key in Self.keys(of: value, field.type) {
                    entries.append(IndexEntry(index: field.valueIndex, key: key, record: record.id))
                }
            }
            if field.indexes.contains(.searchable), let value {
                for word in Words.of(value).sorted() {
                    let key = IndexKey.text(word)
                    entries.append(IndexEntry(index: field.wordIndex, key: key, record: record.id))
                }
            }
        }
        return entries
    }

    /// Returns the value of a field or system field.
    private func value(
        _ name: String,
        of record: StoredRecord,
        _ fields: RecordFields
    ) -> WireValue? {
        if let value = fields.fields[name]?.value { return value }
        // The schema has system fields under their schema names; a type may have a field of its own
        // with the other name, such as `createdTimestamp`.
        guard let system = SystemField(name: name), system.schemaName == name else { return nil }
        return record.value(of: system)
    }

    /// Returns the keys of a value in its field's index: one, or one for each element of a list.
    static func keys(of value: WireValue?, _ type: FieldType) -> [Data] {
        guard case .list(let values, _) = value else {
            if type.isList { return [] }
            return [value.flatMap(IndexKey.of) ?? IndexKey.missing]
        }
        if values.count == 1 { return values.compactMap(IndexKey.of) }
        return Set(values.compactMap(IndexKey.of)).sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension StoredRecord {
    /// Returns the value of a system field.
    func value(of field: SystemField) -> WireValue? {
        switch field {
        case .recordName: .reference(WireReference(recordName: name))
        case .share: share.map { .reference(WireReference(recordName: $0)) }
        case .parent: parent.map { .reference(WireReference(recordName: $0)) }
        case .createdUserRecordName: .reference(WireReference(recordName: created.user))
        case .modifiedUserRecordName: .reference(WireReference(recordName: modified.user))
        case .createdTimestamp: .timestamp(created.milliseconds)
        case .modifiedTimestamp: .timestamp(modified.milliseconds)
        }
    }
}
