/// The source of the record names of a table.
public enum RecordNames: String, Hashable, Sendable {
    /// The record type, a colon and the key, so that rows of two tables can have the same key.
    case typeAndKey
    /// The key alone, as in zones that an app without this store writes: the key's column holds
    /// that app's record name and is not a field.
    ///
    /// The key is a single text column. Names are unique in a zone, so no two rows of such tables
    /// can have the same key.
    case key
}
