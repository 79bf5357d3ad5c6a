import GRDB

/// The places of a model's parts in a store: tables, columns and entity numbers.
///
/// All of it is read from the file. Numbers are never computed, because migrations leave others.
struct StoreLayout {
    /// The table of a root entity and of all entities that inherit from it.
    struct Table {
        var root: CoreDataModel.Entity
        var name: String
        /// The entities whose rows are in it, by their numbers in the store.
        var entities: [Int64: CoreDataModel.Entity] = [:]
        var values: [Value] = []
        var links: [Link] = []
    }

    /// The column of a value.
    struct Value {
        /// The entity that declares the attribute.
        var owner: String
        /// The attribute, or the composite attributes that lead to it.
        var path: [String]
        /// The innermost attribute.
        var attribute: CoreDataModel.Attribute
        var column: String
        /// The numbers of the entities that have the attribute.
        var numbers: Set<Int64>
        /// `true` when values may be in files.
        var isExternal = false

        var key: String { path.joined(separator: ".") }
    }

    /// The column of a to-one end.
    struct Link {
        var owner: String
        var relationship: CoreDataModel.Relationship
        var column: String
        /// The column with the position among the objects that lead to the same target.
        var orderColumn: String?
        /// The root entity of the target.
        var target: String
        var numbers: Set<Int64>
    }

    /// The table of a many-to-many relationship.
    struct Join {
        /// The entity and relationship of the end whose entity name sorts first.
        var owner: String
        var relationship: CoreDataModel.Relationship
        /// The inverse relationship, with the entity that declares it.
        var inverse: CoreDataModel.Relationship
        var inverseOwner: String
        var table: String
        /// The column with rows of the owner, and the one with the relationship's targets.
        var ownerColumn: String
        var targetColumn: String
        /// The columns with the positions among the targets of the relationship, and of its inverse.
        var orderColumn: String?
        var inverseOrderColumn: String?
        var ownerRoot: String
        var targetRoot: String
    }

    var tables: [Table] = []
    var joins: [Join] = []
    /// Descriptions of content in the file or the model that is not converted.
    var notes: [String] = []
    /// The numbers of the entities, by name.
    var numbers: [String: Int64] = [:]

    func table(ofRoot name: String) -> Table? { tables.first { $0.root.name == name } }

    /// Returns the numbers of an entity and all entities below it.
    static func numbers(
        below entity: CoreDataModel.Entity,
        _ model: CoreDataModel,
        _ numbers: [String: Int64]
    ) -> Set<Int64> {
        Set(model.hierarchy(below: entity).compactMap { numbers[$0.name] })
    }
}

/// The names and numbers of a store's entities: the table `Z_PRIMARYKEY`.
struct StoredEntities {
    struct Entry {
        var number: Int64
        var parent: Int64
    }

    /// Numbers from here on are reserved for internal entities.
    private static let firstOwnNumber: Int64 = 16_000
    /// A limit that no app reaches.
    private static let most = 10_000

    private(set) var entries: [String: Entry] = [:]
    private var names: [Int64: String] = [:]

    init(_ database: Database, _ tables: StoreTables) throws {
        guard
            ["Z_ENT", "Z_NAME", "Z_SUPER"].allSatisfy({ tables.contains("Z_PRIMARYKEY", $0) })
        else {
            throw CoreDataStoreError(
                .unreadable,
                "Z_PRIMARYKEY",
                "this is not a Core Data store: it has no such table"
            )
        }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT Z_ENT, Z_NAME, Z_SUPER FROM main.Z_PRIMARYKEY NOT INDEXED
                LIMIT \(Self.most + 1)
                """
        )
        while let row = try rows.next() {
            guard case .int64(let number) = (row[0] as DatabaseValue).storage, number > 0,
                case .string(let name) = (row[1] as DatabaseValue).storage, !name.isEmpty,
                names[number] == nil, entries[name] == nil, names.count < Self.most
            else {
                throw CoreDataStoreError(
                    .unreadable,
                    "Z_PRIMARYKEY",
                    "an entity has no name or no number, or one of another, or there are more than "
                        + "\(Self.most)"
                )
            }
            let parent: Int64 =
                switch (row[2] as DatabaseValue).storage {
                case .int64(let number): number
                default: 0
                }
            names[number] = name
            guard number < Self.firstOwnNumber else { continue }
            entries[name] = Entry(number: number, parent: parent)
        }
    }

    var numbers: [String: Int64] { entries.mapValues(\.number) }

    /// Returns the name of the entity with a number.
    func name(of number: Int64) -> String? { names[number] }
}
