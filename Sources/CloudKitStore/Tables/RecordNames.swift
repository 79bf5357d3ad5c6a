/// What the records of a table are named after.
public enum RecordNames: String, Hashable, Sendable {
    /// The record type, a colon and the key, so that rows of two tables may have one key.
    case typeAndKey
    /// The key alone, as in zones that an app without this store writes: the key's column holds what
    /// that app chose as the name of its records, and is no field of theirs.
    ///
    /// The key is one column of text. Names are unique in a zone, so that no two rows of such tables
    /// may have one key.
    case key
}
