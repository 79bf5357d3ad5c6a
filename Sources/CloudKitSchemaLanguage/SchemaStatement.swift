/// A statement of a schema, as written.
///
/// Its reader decides whether the names and types exist, and reports errors at the words'
/// positions.
package enum SchemaStatement: Hashable, Sendable {
    /// `CREATE ROLE name`
    case role(SchemaWord)
    /// `RECORD TYPE name (…)`
    case recordType(SchemaRecordType)
}

/// A name or keyword with its position.
package struct SchemaWord: Hashable, Sendable {
    /// The word, without the quotation marks around it.
    package let text: String
    /// The line, counted from 1.
    package let line: Int
    /// The column, counted from 1.
    package let column: Int
}

/// The definition of a record type.
package struct SchemaRecordType: Hashable, Sendable {
    /// An entry between the parentheses.
    package enum Member: Hashable, Sendable {
        case field(SchemaField)
        case grant(SchemaGrant)
    }

    /// The name.
    package let name: SchemaWord
    /// The fields and grants, in written order.
    package let members: [Member]
}

/// The definition of a field.
package struct SchemaField: Hashable, Sendable {
    /// An index and the word that names it.
    package struct Index: Hashable, Sendable {
        /// The kinds of index.
        package enum Kind: String, Hashable, Sendable {
            case queryable = "QUERYABLE"
            case sortable = "SORTABLE"
            case searchable = "SEARCHABLE"
        }

        package let kind: Kind
        package let word: SchemaWord
    }

    /// The name.
    package let name: SchemaWord
    /// `true` when the type is written as `LIST<…>`.
    package let isList: Bool
    /// `true` when `ENCRYPTED` precedes the type.
    package let isEncrypted: Bool
    /// The type of the value or of the list's elements; the grammar accepts any word.
    package let type: SchemaWord
    /// The type that `NUMBER PREFERRED AS` names; `nil` for other types and without a preference.
    package let preference: SchemaNumber?
    /// The indexes, in written order.
    package let indexes: [Index]
}

/// The type of a number field that the development environment created from a save.
package enum SchemaNumber: String, Hashable, Sendable {
    case int64 = "INT64"
    case double = "DOUBLE"
}

/// The permissions of a role.
package struct SchemaGrant: Hashable, Sendable {
    /// A permission that a role can have.
    package enum Permission: String, Hashable, Sendable {
        case read = "READ"
        case create = "CREATE"
        case write = "WRITE"
    }

    /// The granted permissions.
    package let permissions: [Permission]
    /// The role that receives them.
    package let role: SchemaWord
}
