/// What becomes of a row that comes from another device with the values of a row here in UNIQUE columns.
public enum UniqueRule: String, Hashable, Sendable {
    /// The record that the server had first stays. The other row is deleted on all devices, is in the
    /// journal under the rule `unique`, and what referred to it refers to the one that stays.
    case firstStays
    /// Nothing is deleted: the row that came waits, set aside with its reason in the status, until the
    /// user has changed or deleted one of the two. It stays on the device where it was made.
    ///
    /// For a UNIQUE index that a new version of the app adds, while older versions insert rows that
    /// break it.
    case waits
}
