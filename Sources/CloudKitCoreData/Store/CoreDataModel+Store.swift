public import Foundation
import GRDB

extension CoreDataModel {
    private enum CacheLimit {
        static let compressed = 16 << 20
        static let archive = 64 << 20
    }

    /// Creates a model from the copy that Core Data and SwiftData keep in a store's file.
    ///
    /// The file and its write-ahead log are copied, and only the copy is opened.
    ///
    /// The copy lacks properties that were never observed in it: bounds of values, fetch indexes, and
    /// whether values may be stored in files. Ordered relationships are recognized by their columns.
    ///
    /// - Throws: ``CoreDataModelError`` for a file that is not a store or contains no model; then a
    ///   model file is required.
    public init(cachedInStoreAt url: URL) throws(CoreDataModelError) {
        let name = url.lastPathComponent
        let copy = try StoreCopy(of: url)
        let content: Data
        let ordered: OrderColumns
        do {
            (content, ordered) = try copy.database.read { database in
                (try Self.cache(in: database, name), try OrderColumns(database))
            }
        } catch {
            if let error = error as? CoreDataModelError { throw error }
            throw StoreCopy.failure(name, error)
        }
        try self.init(cached: content, ordered, name)
    }

    /// Creates the model that an open store keeps.
    init(cachedIn database: Database, _ name: String) throws {
        try self.init(
            cached: Self.cache(in: database, name),
            OrderColumns(database),
            name
        )
    }

    private init(
        cached content: Data,
        _ ordered: OrderColumns,
        _ name: String
    ) throws(CoreDataModelError) {
        do {
            self = try Self(archived: content).withOrder(ordered)
        } catch {
            throw error.within(name)
        }
    }

    /// Creates a model from the content of a store's table `Z_MODELCACHE`, or of a compiled `.mom`.
    ///
    /// - Throws: ``CoreDataModelError`` for other bytes.
    package init(archived content: Data) throws(CoreDataModelError) {
        let isPlain = content.starts(with: Array("bplist0".utf8))
        self = try ArchivedModelReader.model(
            isPlain ? content : RawDeflate.inflate(content, limit: CacheLimit.archive)
        )
    }

    private static func cache(in database: Database, _ name: String) throws -> Data {
        guard try database.tableExists("Z_PRIMARYKEY") else {
            throw CoreDataModelError(
                .unreadable,
                name,
                "this is not a Core Data store: it has no table Z_PRIMARYKEY; name the app's own file"
            )
        }
        let hasTable = try Bool.fetchOne(
            database,
            sql: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_MODELCACHE'"
        )
        let length =
            hasTable == true
            ? try Int.fetchOne(
                database,
                sql: "SELECT length(Z_CONTENT) FROM Z_MODELCACHE WHERE Z_CONTENT NOTNULL LIMIT 1"
            ) : nil
        guard let length else {
            throw CoreDataModelError(
                .unreadable,
                name,
                "the store holds no copy of its model; give the model's file"
            )
        }
        guard length <= CacheLimit.compressed else {
            throw CoreDataModelError(
                .tooLarge,
                name,
                "its copy of the model has \(length) bytes; up to \(CacheLimit.compressed) are read"
            )
        }
        return try Data.fetchOne(
            database,
            sql: "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE Z_CONTENT NOTNULL LIMIT 1"
        ) ?? Data()
    }

    /// Returns the model with relationships marked as ordered if they have a column for the order.
    private func withOrder(_ columns: OrderColumns) throws(CoreDataModelError) -> Self {
        guard !columns.isEmpty else { return self }
        var entities = self.entities
        for (place, entity) in entities.enumerated() {
            for (index, relationship) in entity.relationships.enumerated()
            where relationship.isToMany && isOrdered(relationship, columns) {
                entities[place].relationships[index].isOrdered = true
            }
        }
        return try with(entities: entities, composites: composites)
    }

    /// Returns the model with other entities and composites.
    func with(
        entities: [Entity],
        composites: [Composite]
    ) throws(CoreDataModelError) -> Self {
        var model = try Self(
            entities: entities,
            composites: composites,
            configurations: configurations,
            fetchRequests: fetchRequests,
            versionIdentifiers: versionIdentifiers,
            isUsedWithCloudKit: isUsedWithCloudKit,
            unknownParts: unknownParts
        )
        model.isArchived = isArchived
        return model
    }

    private func isOrdered(_ relationship: Relationship, _ columns: OrderColumns) -> Bool {
        guard let inverse = inverse(of: relationship),
            let destination = entity(named: relationship.destination)
        else { return false }
        return inverse.isToMany
            ? columns.hasJoin(of: relationship.name, with: inverse.name)
            : columns.hasColumn(of: inverse.name, inTableOf: root(of: destination).name)
    }
}
