import CloudKitStore
import Foundation

/// The tables of a model as a store syncs them.
struct SyncedTables {
    let format: CoreDataFormat

    private var model: CoreDataModel { format.model }

    func tables() -> [SyncedTable] {
        let tables = CoreDataTables(model: model, entities: format.entities)
        return tables.tables.compactMap(table) + tables.joins.map(table)
    }

    // MARK: Objects

    private func table(_ table: CoreDataTables.Table) -> SyncedTable? {
        guard let root = model.entity(named: table.root) else { return nil }
        var synced = SyncedTable.table(
            table.name,
            recordType: format.recordType(of: root),
            recordNames: .key
        )
        let hierarchy = model.hierarchy(below: root).filter { format.entities.contains($0.name) }
        var record = RecordFormat(
            .object(
                RecordFormat.Kinds(
                    field: CoreDataFormat.entityField,
                    usual: root.name,
                    all: Dictionary(
                        uniqueKeysWithValues: hierarchy.map { ($0.name, kind(of: $0)) }
                    )
                )
            )
        )
        for column in table.columns {
            switch column.content {
            case .recordName: continue
            case .entity: synced.fields[column.name] = CoreDataFormat.entityField
            case .link(let relationship, table: _):
                synced.fields[column.name] = CoreDataFormat.prefix + relationship
            case .value(_, let path):
                if let attribute = attribute(path, of: column) {
                    add(attribute, column.name, to: &synced, &record)
                } else {
                    synced.localOnly.insert(column.name)
                }
            case .position: synced.localOnly.insert(column.name)
            }
        }
        synced.format = record
        return synced
    }

    /// Returns the attribute whose values a column holds; nil for one without a field, and for a part of one.
    private func attribute(
        _ path: String,
        of column: CoreDataTables.Column
    ) -> CoreDataModel.Attribute? {
        let owner = column.owners.first.flatMap { model.entity(named: $0) }
        guard let attribute = owner?.attribute(named: path),
            !MirroredField.fields(of: attribute, in: "").isEmpty
        else { return nil }
        return attribute
    }

    private func add(
        _ attribute: CoreDataModel.Attribute,
        _ column: String,
        to table: inout SyncedTable,
        _ record: inout RecordFormat
    ) {
        table.fields[column] = attribute.field
        if attribute.isEncryptedInCloudKit { table.encrypted.insert(column) }
        if let companion = attribute.companionField {
            record.companions[attribute.field] = companion
        }
        switch attribute.type {
        case .decimal: record.notations[attribute.field] = .decimal
        case .uuid: record.notations[attribute.field] = .identifier
        case .uri: record.notations[attribute.field] = .address
        case .integer16: record.notations[attribute.field] = .short
        case .integer32: record.notations[attribute.field] = .medium
        case .boolean: record.notations[attribute.field] = .flag
        case .float: record.notations[attribute.field] = .single
        default: break
        }
    }

    /// Returns the fields of an entity's records, and what they stand for where they are missing.
    private func kind(of entity: CoreDataModel.Entity) -> RecordFormat.Kind {
        let attributes = model.attributes(of: entity)
            .filter { !MirroredField.fields(of: $0, in: "").isEmpty }.map(\.field)
        let links = format.toOneRelationships(of: entity)
            .map { CoreDataFormat.prefix + $0.name }
        return RecordFormat.Kind(
            fields: Set(attributes + links),
            defaults: defaults(of: entity),
            isAbstract: entity.isAbstract
        )
    }

    /// Returns the values that missing fields of an entity's records stand for.
    private func defaults(of entity: CoreDataModel.Entity) -> [String: StoreValue] {
        var defaults: [String: StoreValue] = [:]
        for attribute in model.attributes(of: entity) where attribute.isMirrored {
            guard let value = attribute.defaultValue, value.isOf(attribute.type) else { continue }
            defaults[attribute.field] = value.storeValue
        }
        return defaults
    }

    // MARK: Links

    private func table(_ join: CoreDataTables.JoinTable) -> SyncedTable {
        var synced = SyncedTable.table(
            join.name,
            recordType: MirroredSchema.linkType,
            recordNames: .key
        )
        let links = join.columns.filter(\.content.isLink).map(\.name)
        for column in join.columns.dropFirst() where !links.contains(column.name) {
            synced.localOnly.insert(column.name)
        }
        let ends = [
            end(links[0], join.owner, join.relationship),
            end(links[1], join.inverseOwner, join.inverse),
        ].sorted { $0.order < $1.order }.map(\.end)
        synced.format = RecordFormat(.link(CoreDataFormat.link(ends[0], ends[1])))
        return synced
    }

    /// Returns the end of a link: the object that declares a relationship, by the column that refers to it.
    private func end(
        _ column: String,
        _ entity: String,
        _ relationship: String
    ) -> (end: RecordFormat.End, order: (String, String)) {
        let root = model.entity(named: entity).map { model.root(of: $0) }
        let others = root.map { model.hierarchy(below: $0).map(\.name) } ?? []
        let end = RecordFormat.End(
            field: column,
            kinds: [entity] + others.filter { $0 != entity },
            relation: relationship
        )
        return (end, (entity.lowercased(), relationship.lowercased()))
    }
}

extension CoreDataFormat {
    /// Returns the form of the records of links between two ends.
    static func link(_ first: RecordFormat.End, _ second: RecordFormat.End) -> RecordFormat.Link {
        RecordFormat.Link(
            names: "CD_recordNames",
            kinds: "CD_entityNames",
            relations: "CD_relationships",
            ends: (first, second)
        )
    }
}

extension CoreDataValue {
    /// The value as a store has it.
    var storeValue: StoreValue {
        switch self {
        case .integer(let number): .integer(number)
        case .double(let number): .real(number)
        case .decimal(let number): RecordFormat.Notation.decimal(Double("\(number)") ?? 0)
        case .string(let text), .uri(let text): .text(text)
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .date(let date):
            .date(
                milliseconds: Int64(
                    max(min(date.timeIntervalSince1970 * 1000, 1e18), -1e18).rounded()
                )
            )
        case .bytes(let data): .bytes(data)
        case .uuid(let uuid): .text(uuid.uuidString)
        }
    }
}
