import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The changes that turn an environment's schema into a definition, once it is known that all of them
/// are allowed.
struct SchemaPlan: Sendable {
    let environment: StoredEnvironment
    let changes: [SchemaChange]
    /// The names of the fields that records lose, by record type.
    let droppedFields: [String: Set<String>]

    /// Plans the changes.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` for a change that would lose data if that is not
    ///   allowed.
    init(
        _ definition: SchemaDefinition,
        for environment: StoredEnvironment,
        _ reader: any StorageReader
    ) throws {
        let schema = try Schema(reader.schema(environment.id))
        self.environment = environment
        changes = SchemaDefinition(schema).changes(to: definition)
        if environment.kind == .production, let lost = changes.first(where: \.losesData) {
            throw RequestError(
                .badRequest,
                reason: "Production keeps every type and field: \(lost)"
            )
        }
        if let retyped = changes.first(where: { $0.kind == .changed && $0.losesData }) {
            throw RequestError(
                .badRequest,
                reason: "A field's type cannot change: \(retyped); remove the field first"
            )
        }
        var dropped: [String: Set<String>] = [:]
        for (name, type) in schema.types.sorted(by: { $0.key < $1.key }) {
            guard let new = definition.types[name] else {
                try Self.checkIsEmpty(type, name, environment, reader)
                continue
            }
            // The values of system fields are none of the schema's.
            let lost = type.fields.keys.filter { new.fields[$0] == nil && !$0.hasPrefix("___") }
            if !lost.isEmpty { dropped[name] = Set(lost) }
        }
        droppedFields = dropped
    }

    private static func checkIsEmpty(
        _ type: RecordTypeSchema,
        _ name: String,
        _ environment: StoredEnvironment,
        _ reader: any StorageReader
    ) throws {
        guard try reader.records(of: type, in: environment.id, limit: 1).isEmpty else {
            throw RequestError(
                .badRequest,
                reason: "The record type \(name) still has records; delete them first"
            )
        }
    }
}

/// Changes an environment's schema to a definition, and updates its indexes.
struct SchemaMigration {
    let environment: StoredEnvironment
    let writer: any StorageWriter
    private(set) var schema: Schema

    init(_ environment: StoredEnvironment, _ writer: any StorageWriter) throws {
        self.environment = environment
        self.writer = writer
        schema = try Schema(writer.schema(environment.id))
    }

    /// Applies a definition as planned, after the values of dropped fields were removed.
    mutating func apply(
        _ definition: SchemaDefinition,
        _ plan: SchemaPlan,
        version: Int64
    ) throws {
        schema.roles = definition.roles
        for name in schema.types.keys where definition.types[name] == nil {
            schema.types[name] = nil
        }
        for (name, type) in definition.types.sorted(by: { $0.key < $1.key }) {
            try apply(type, name)
        }
        if !plan.changes.isEmpty {
            try writer.setSchema(environment.id, version: version, schema.encoded())
        }
    }

    private mutating func apply(
        _ definition: SchemaDefinition.RecordType,
        _ name: String
    ) throws {
        if schema.types[name] == nil { schema.addType(name, indexesSystemFields: false) }
        guard var type = schema.types[name] else { return }
        var rebuilt: [(name: String, field: FieldSchema)] = []
        for (name, field) in type.fields.sorted(by: { $0.key < $1.key })
        where definition.fields[name] == nil {
            try removeEntries(of: field, name)
            type.fields[name] = nil
        }
        for (name, new) in definition.fields.sorted(by: { $0.key < $1.key }) {
            let old = type.fields[name]
            let isName = name == SystemField.recordName.schemaName
            let number = isName ? type.number : (old?.number ?? schema.takeNumber())
            let field = FieldSchema(
                new.type,
                isEncrypted: new.isEncrypted,
                indexes: new.indexes,
                number: number
            )
            type.fields[name] = field
            // Only fields that have other entries than before are indexed again.
            guard !isName, Self.contents(of: old) != Self.contents(of: field) else { continue }
            if let old { try removeEntries(of: old, name) }
            rebuilt.append((name, field))
        }
        if let grants = definition.grants { type.grants = grants }
        schema.types[name] = type
        try rebuild(rebuilt, of: type)
    }

    /// Returns the contents of the index table for a field: values, words, both or nothing.
    private static func contents(of field: FieldSchema?) -> [Bool] {
        let indexes = field?.indexes ?? []
        return [!indexes.isDisjoint(with: .values), indexes.contains(.searchable)]
    }

    private func removeEntries(of field: FieldSchema, _ name: String) throws {
        guard name != SystemField.recordName.schemaName else { return }
        for index in field.everyIndex { try writer.removeEntries(index: index, environment.id) }
    }

    /// Adds every record of a type to indexes that are new or differ.
    private func rebuild(
        _ fields: [(name: String, field: FieldSchema)],
        of type: RecordTypeSchema
    ) throws {
        guard fields.contains(where: { !$0.field.indexes.isEmpty }) else { return }
        var partial = type
        partial.fields = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.field) })
        let keys = IndexKeys(partial)
        var homes = ReferenceHomes()
        for record in try writer.records(of: type, in: environment.id, limit: .max) {
            guard let row = try writer.record(record.id, in: record.zone), !row.isDeleted else {
                continue
            }
            let fields = try RecordFields(of: row)
            let home = try homes.home(of: row.zone, writer)
            for entry in keys.entries(of: row, fields, home) where entry.index != type.nameIndex {
                try writer.addEntry(entry, in: row.zone)
            }
        }
    }
}

extension StorageReader {
    /// Returns the records of a type in an environment, so many at most.
    fileprivate func records(
        of type: RecordTypeSchema,
        in environment: RowID<StoredEnvironment>,
        limit: Int
    ) throws -> [(id: RowID<StoredRecord>, zone: RowID<StoredZone>)] {
        var records: [(id: RowID<StoredRecord>, zone: RowID<StoredZone>)] = []
        for zone in try zones(environment) where records.count < limit {
            records += try entries(
                IndexScan(zone: zone.id, index: type.nameIndex, limit: limit)
            ).map { ($0.record, zone.id) }
        }
        return records
    }
}
