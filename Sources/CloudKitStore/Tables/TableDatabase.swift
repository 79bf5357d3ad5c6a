/// The database that holds a table's records.
public enum TableDatabase: Hashable, Sendable {
    /// The user's private database, with the records that others share with the user.
    case `private`
    /// The public database, which all users of the app share. It has no change feed: the store
    /// queries the records modified since its last query, and periodically all records, to find
    /// deleted ones.
    ///
    /// The record type needs an index on `modificationDate` (`___modTime`) and on `recordName`.
    case `public`
}
