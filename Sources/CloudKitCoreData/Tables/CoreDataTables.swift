public import GRDB

/// The tables of a GRDB database that hold the content of a Core Data model.
///
/// - A hierarchy of entities is one table with the root's name; `entity` holds the name of the
///   row's entity.
/// - The key is `recordName`: the name of the row's record in CloudKit.
/// - An attribute is a column with its name; a part of a composite is `home_city`. Entities of one
///   hierarchy that declare a name in the same way share the column; otherwise the entity's name is
///   the prefix: `Video_length`.
/// - A to-one relationship is a foreign key with its name. The inverse's delete rule determines its
///   action: CASCADE, SET NULL, RESTRICT for Deny, NO ACTION; without an inverse, SET NULL. Foreign
///   keys are checked when a transaction ends. A one-to-one relationship has columns at both ends.
/// - An ordered relationship gives the other end a column such as `list_position`.
/// - A many-to-many relationship is a table such as `Post_tags`, with its own key and a column for
///   each end.
/// - A name that another column or table has, ignoring case, gets digits: `Name1`.
///
/// Integers are INTEGER, Booleans BOOLEAN, floating-point numbers DOUBLE, dates DATETIME as GRDB
/// writes them; decimals, UUIDs, URIs and strings are TEXT, and everything else is BLOB. A required
/// attribute of the root that has a default is NOT NULL.
public struct CoreDataTables: Hashable, Sendable {
    /// A column.
    public struct Column: Hashable, Sendable {
        /// The content of a column.
        public enum Content: Hashable, Sendable {
            /// The name of the row's record.
            case recordName
            /// The name of the row's entity.
            case entity
            /// The value of an attribute, such as `title`, or `home.city` in a composite.
            case value(CoreDataModel.AttributeType, path: String)
            /// The key of a relationship's target.
            case link(relationship: String, table: String)
            /// A position in the order of the rows that refer to the same row.
            case position(relationship: String)
        }

        /// The column's name.
        public let name: String
        /// The content.
        public let content: Content
        /// The entities that declare it; empty for columns of all rows.
        public internal(set) var owners: [String]
        /// The column's definition in SQL, after its name.
        public internal(set) var definition: String
        /// The default value of a row; nil for NULL.
        public internal(set) var defaultValue: CoreDataValue?
    }

    /// The table of a hierarchy.
    public struct Table: Hashable, Sendable {
        /// The table's name.
        public let name: String
        /// The root entity.
        public let root: String
        /// The columns in order; the first is the key.
        public internal(set) var columns: [Column]

        /// Returns the column that holds a property of an entity, which may be inherited.
        func column(
            of property: String,
            in entity: CoreDataModel.Entity,
            _ model: CoreDataModel
        ) -> Column? {
            let names = (model.ancestors(of: entity) + [entity]).map(\.name)
            return columns.first { column in
                switch column.content {
                case .value(_, path: property), .link(relationship: property, table: _):
                    column.owners.contains(where: names.contains)
                default: false
                }
            }
        }
    }

    /// The table of a many-to-many relationship.
    public struct JoinTable: Hashable, Sendable {
        /// The table's name.
        public let name: String
        /// The entity that declares the relationship.
        public let owner: String
        /// The relationship.
        public let relationship: String
        /// The entity that declares the inverse relationship.
        public let inverseOwner: String
        /// The inverse relationship.
        public let inverse: String
        /// The columns: the key, the owner's row, the target of `relationship`, and the positions
        /// of both if they are ordered.
        public internal(set) var columns: [Column]
    }

    /// An index of a table.
    public struct Index: Hashable, Sendable {
        /// The index's name.
        public let name: String
        /// The table's name.
        public let table: String
        /// A Boolean value that indicates whether the indexed values are unique.
        public let isUnique: Bool
        /// The columns in SQL, with their order.
        public let columns: [String]
        /// The SQL condition of the indexed rows; nil for all rows.
        public let condition: String?
        /// The entity and the properties of the model's constraint; nil for another index.
        let constraint: String?

        func statement(schema: String) -> String {
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(schema).\(name.quotedName) "
                + "ON \(table.quotedName) (\(columns.joined(separator: ", ")))"
                + (condition.map { " WHERE \($0)" } ?? "")
        }
    }

    /// The tables of entities, by the roots' names.
    public internal(set) var tables: [Table] = []
    /// The tables of many-to-many relationships.
    public internal(set) var joins: [JoinTable] = []
    /// The indexes.
    public internal(set) var indexes: [Index] = []
    /// Descriptions of parts of the model that the tables do not represent.
    public internal(set) var notes: [String] = []

    /// Creates the tables of a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - entities: The entities that have tables; nil for all.
    public init(model: CoreDataModel, entities: Set<String>? = nil) {
        var builder = TableBuilder(model, entities)
        self = builder.tables()
    }

    init() {}

    /// Returns the table of a hierarchy.
    public func table(ofRoot name: String) -> Table? { tables.first { $0.root == name } }

    /// Creates the tables and indexes.
    ///
    /// - Throws: An error of the database.
    public func create(in database: Database) throws {
        try createTables(in: database, schema: "main")
        for index in indexes { try database.execute(sql: index.statement(schema: "main")) }
    }

    func createTables(in database: Database, schema: String) throws {
        let all = tables.map { ($0.name, $0.columns) } + joins.map { ($0.name, $0.columns) }
        for (name, columns) in all {
            let definitions = columns.map { "\($0.name.quotedName) \($0.definition)" }
            try database.execute(
                sql: """
                    CREATE TABLE \(schema).\(name.quotedName) (
                        \(definitions.joined(separator: ",\n    "))
                    )
                    """
            )
        }
    }
}
