/// A statement of a schema, as it is written: whether its names and types exist is for the reader to
/// say, who has the words' places for that.
package enum SchemaStatement: Hashable, Sendable {
    /// `CREATE ROLE name`
    case role(SchemaWord)
    /// `RECORD TYPE name (…)`
    case recordType(SchemaRecordType)
}

/// A name or keyword, and where it stands.
package struct SchemaWord: Hashable, Sendable {
    /// The word, without the quotation marks around it.
    package let text: String
    /// The line, from 1.
    package let line: Int
    /// The column, from 1.
    package let column: Int
}

/// The definition of a record type.
package struct SchemaRecordType: Hashable, Sendable {
    /// What stands between the parentheses.
    package enum Member: Hashable, Sendable {
        case field(SchemaField)
        case grant(SchemaGrant)
    }

    /// The name.
    package let name: SchemaWord
    /// The fields and grants, in the order in which they are written.
    package let members: [Member]
}

/// The definition of a field.
package struct SchemaField: Hashable, Sendable {
    /// An index, and the word that names it.
    package struct Index: Hashable, Sendable {
        /// The indexes that there are.
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
    /// Whether `LIST<…>` stands around the type.
    package let isList: Bool
    /// Whether `ENCRYPTED` stands before the type.
    package let isEncrypted: Bool
    /// The type of the value, or of the list's elements; the grammar takes any word for one.
    package let type: SchemaWord
    /// What `NUMBER PREFERRED AS` names; nil for other types, and without a preference.
    package let preference: SchemaNumber?
    /// The indexes in the order in which they are written.
    package let indexes: [Index]
}

/// The type of a number that development made just in time.
package enum SchemaNumber: String, Hashable, Sendable {
    case int64 = "INT64"
    case double = "DOUBLE"
}

/// The permissions of a role.
package struct SchemaGrant: Hashable, Sendable {
    /// What a role can be allowed.
    package enum Permission: String, Hashable, Sendable {
        case read = "READ"
        case create = "CREATE"
        case write = "WRITE"
    }

    /// What is allowed.
    package let permissions: [Permission]
    /// To whom.
    package let role: SchemaWord
}
