public import Foundation
import GRDB

/// A store of Core Data or SwiftData, read without either framework.
///
/// ```swift
/// let store = try CoreDataStore(url: URL(fileURLWithPath: "App.sqlite"), model: model)
/// for row in try store.rows(of: "Note") { print(try row.get().values) }
/// try store.convert(to: URL(fileURLWithPath: "app.sqlite"))
/// ```
///
/// The file and its companions are copied, and only the copy is opened. Files of large values are
/// read in place.
public final class CoreDataStore: Sendable {
    /// An entity with its number of rows.
    public struct EntityCount: Hashable, Sendable {
        /// The entity's name.
        public let name: String
        /// The number of rows of this entity, without those of its sub-entities.
        public let rows: Int
    }

    /// The store's file.
    public let url: URL
    /// The store's model: the given one, or the one that the store keeps.
    public let model: CoreDataModel
    /// The store's identifier, which is in the URIs of its objects.
    public let identifier: String?
    /// The entities that have objects of their own, by name.
    public let entities: [EntityCount]
    /// The tables that ``convert(to:options:)`` creates.
    public var tables: CoreDataTables {
        CoreDataTables(model: model, entities: Set(layout.numbers.keys))
    }

    /// The information about CloudKit; nil if the store was never mirrored.
    public let mirror: CoreDataMirror?
    /// Descriptions of content in the store or its model that is not converted.
    public let notes: [String]

    let copy: StoreCopy
    let layout: StoreLayout
    let files: ExternalData
    let zones: [Int64: CoreDataMirror.Zone]?

    /// Creates a store by opening a copy of its file.
    ///
    /// - Parameters:
    ///   - url: The store's file; its companions are beside it.
    ///   - model: The version of the model that the app used last; nil for the one that the store keeps.
    ///   - externalData: Whether values of an attribute may be in files beside the store, by entity
    ///     and attribute such as `Trip.photo`, if the model does not specify it.
    /// - Throws: ``CoreDataStoreError``; for a different model, with the entities that differ.
    public init(
        url: URL,
        model: CoreDataModel? = nil,
        externalData: [String: Bool] = [:]
    ) throws(CoreDataStoreError) {
        self.url = url
        let place = url.lastPathComponent
        var logNote: String?
        do {
            let copy = try StoreCopy(of: url)
            logNote = copy.logNote
            let files = ExternalData(besideStoreAt: url.resolvingSymlinksInPath())
            let found = try copy.database.write { database in
                try Self.check(database, place)
                var model = try model ?? CoreDataModel(cachedIn: database, place)
                var reader = try StoreLayoutReader(model, database, externalData, files)
                var layout = try reader.read(place)
                if let completed = try reader.completedModel() {
                    model = completed
                    reader = try StoreLayoutReader(model, database, externalData, files)
                    let first = layout.notes
                    layout = try reader.read(place)
                    layout.notes = first + layout.notes.filter { !first.contains($0) }
                }
                let rows = try Self.count(layout, database)
                let tables = try MirrorTables(database, reader.tables)
                let mirror = try tables.map { tables in
                    try MirrorReader(database, layout, tables.zones).mirror()
                }
                layout.notes += try tables?.notes() ?? []
                return (
                    model, layout, rows, tables?.zones, mirror,
                    try Self.identifier(database, reader.tables)
                )
            }
            self.copy = copy
            self.files = files
            (self.model, layout, entities, zones, mirror, identifier) = found
            notes = layout.notes + [logNote].compactMap(\.self)
        } catch {
            throw CoreDataStoreError(error, place).adding(logNote)
        }
    }

    // MARK: Opening

    private static func check(_ database: Database, _ place: String) throws {
        let encoding = try String.fetchOne(database, sql: "PRAGMA encoding")
        guard encoding == "UTF-8" else {
            throw CoreDataStoreError(.unreadable, place, "its text is not UTF-8")
        }
        // Inconsistent pages would return rows twice, or not at all.
        let finding = try String.fetchOne(database, sql: "PRAGMA main.quick_check(1)")
        guard finding == "ok" else {
            throw CoreDataStoreError(
                .unreadable,
                place,
                "it is damaged (\(finding ?? "unknown")); take it from a backup"
            )
        }
    }

    private static func identifier(
        _ database: Database,
        _ tables: StoreTables
    ) throws -> String? {
        guard tables.contains("Z_METADATA", "Z_UUID") else { return nil }
        return try String.fetchOne(
            database,
            sql: "SELECT Z_UUID FROM main.Z_METADATA WHERE typeof(Z_UUID) = 'text' LIMIT 1"
        )
    }

    private static func count(
        _ layout: StoreLayout,
        _ database: Database
    ) throws -> [EntityCount] {
        var counts: [EntityCount] = []
        for table in layout.tables {
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT Z_ENT, count(*) FROM main.\(table.name.quotedName) NOT INDEXED
                    GROUP BY Z_ENT LIMIT \(table.entities.count + 1)
                    """
            )
            var found: [Int64: Int] = [:]
            for row in rows {
                guard case .int64(let number) = (row[0] as DatabaseValue).storage,
                    table.entities[number] != nil
                else { throw try unknownEntity(row[0], table, database) }
                found[number] = Int.fromDatabaseValue(row[1])
            }
            for (number, entity) in table.entities where !entity.isAbstract || found[number] != nil
            {
                counts.append(EntityCount(name: entity.name, rows: found[number] ?? 0))
            }
        }
        return counts.sorted { $0.name < $1.name }
    }

    /// Returns the error for the first row with a number that is none of the entities in its table.
    private static func unknownEntity(
        _ number: DatabaseValue,
        _ table: StoreLayout.Table,
        _ database: Database
    ) throws -> CoreDataStoreError {
        let key = try DatabaseValue.fetchOne(
            database,
            sql: "SELECT min(Z_PK) FROM main.\(table.name.quotedName) NOT INDEXED WHERE Z_ENT IS ?",
            arguments: [number]
        )
        let entities = table.entities.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value.name)" }
        return CoreDataStoreError(
            .invalidRow,
            "\(table.root.name)/p\(key ?? .null)",
            "its entity, Z_ENT, is \(number.summary), and \(table.name) has rows of "
                + "\(entities.joined(separator: ", ")); delete the row with the app, or take the store from a backup"
        )
    }

    // MARK: Reading

    /// Returns the rows of an entity in the order of their keys, read on request.
    ///
    /// - Parameters:
    ///   - entity: The entity's name.
    ///   - includesSubentities: Whether to include rows of entities that inherit from it.
    /// - Returns: The rows; none is read before it is requested.
    /// - Throws: ``CoreDataStoreError`` if the store has no such entity.
    public func rows(
        of entity: String,
        includesSubentities: Bool = true
    ) throws(CoreDataStoreError) -> CoreDataRows {
        guard let found = model.entity(named: entity),
            let table = layout.table(ofRoot: model.root(of: found).name)
        else {
            throw CoreDataStoreError(.unknownName, entity, "the store has no such entity")
        }
        let names =
            includesSubentities ? model.hierarchy(below: found).map(\.name) : [found.name]
        return CoreDataRows(
            copy: copy,
            reader: RowReader(table, files, zones: zones),
            entities: Set(names)
        )
    }

    /// Returns the links of a many-to-many relationship, read on request.
    ///
    /// ``CoreDataRow/links`` has the links of other relationships.
    ///
    /// - Parameters:
    ///   - relationship: The relationship's name.
    ///   - entity: The entity that declares or inherits it.
    /// - Returns: The links; none is read before it is requested.
    /// - Throws: ``CoreDataStoreError`` if it is not a many-to-many relationship of the entity.
    public func links(
        of relationship: String,
        in entity: String
    ) throws(CoreDataStoreError) -> CoreDataLinks {
        let owners = model.entity(named: entity).map { model.ancestors(of: $0) + [$0] } ?? []
        for owner in owners.map(\.name) {
            for join in layout.joins {
                let isOwn = join.owner == owner && join.relationship.name == relationship
                let isInverse = join.inverseOwner == owner && join.inverse.name == relationship
                if isOwn || isInverse {
                    return CoreDataLinks(copy: copy, join: join, isInverse: !isOwn)
                }
            }
        }
        throw CoreDataStoreError(
            .unknownName,
            "\(entity).\(relationship)",
            "the store has no many-to-many relationship of this name"
        )
    }
}
