/// The database that holds a table's records.
public enum TableDatabase: Hashable, Sendable {
    /// The user's own, with what others share with them.
    case `private`
    /// The one that all users of the app share. It has no feed of changes: the store queries what
    /// was modified since it asked last, and now and then everything, to find what was deleted.
    ///
    /// The record type needs an index on `modificationDate` (`___modTime`) and on `recordName`.
    case `public`
}
