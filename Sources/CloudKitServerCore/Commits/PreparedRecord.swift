import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A new record's fields in the forms that a commit writes, made before the commit begins.
///
/// Commits run one after the other, so whatever is done before them is done beside others. Only
/// records that depend on nothing but the request and the schema are prepared: not those with
/// assets, whose receipts the commit redeems, nor those with references, whose normalized form
/// depends on the zone.
struct PreparedRecord: Sendable {
    let fields: RecordFields
    /// The stored form of the fields.
    let stored: Data
    /// The index entries, of a record without a number.
    let entries: [IndexEntry]

    /// Prepares the record of an operation; returns nil if the commit has to do it.
    fileprivate init?(_ item: RecordBatch.Item, _ call: Call, _ rules: inout SchemaRules) {
        let wire = item.operation.record
        guard item.operation.operationType == .create, let name = wire.recordType,
            let type = rules.schema.types[name]
        else { return nil }
        var fields = RecordFields()
        fields.fields.reserveCapacity(wire.fields.count)
        for (key, field) in wire.fields {
            let scalar = field.value?.type.scalar
            guard type.fields[key] != nil, scalar != .asset, scalar != .reference else {
                return nil
            }
            do {
                fields.fields[key] = try rules.checked(
                    field,
                    key,
                    of: name,
                    item.name,
                    isPublic: call.path.database == .public
                )
            } catch {
                // The commit finds the same error and reports it.
                return nil
            }
        }
        self.fields = fields
        stored = fields.stored
        let row = StoredRecord(
            id: RowID(rawValue: 0),
            zone: RowID(rawValue: 0),
            name: item.name,
            type: name,
            sequence: 0,
            created: call.stamp,
            modified: call.stamp,
            parent: item.parent(over: nil),
            fields: stored
        )
        // No value is a reference to another zone, so its home does not matter.
        let home = ReferenceHome(zoneName: "", owner: "")
        entries = IndexKeys(type).entries(of: row, fields, home)
    }
}

/// The prepared records of a batch.
struct PreparedRecords: Sendable {
    /// The schema to which they conform.
    private let schemaVersion: Int64
    private let records: [String: PreparedRecord]

    /// Prepares the new records of a batch.
    init(_ batch: RecordBatch, _ call: Call, _ rules: SchemaRules) {
        schemaVersion = rules.environment.schemaVersion
        var rules = rules
        var records: [String: PreparedRecord] = [:]
        for item in batch.items {
            records[item.name] = PreparedRecord(item, call, &rules)
        }
        // A list without elements got its type: the commit decides that.
        self.records = rules.isChanged ? [:] : records
    }

    /// Returns a new record as it was prepared; nil if it was not, or the schema has changed.
    func record(_ name: String, _ rules: SchemaRules) -> PreparedRecord? {
        guard !rules.isChanged, rules.environment.schemaVersion == schemaVersion else { return nil }
        return records[name]
    }
}
