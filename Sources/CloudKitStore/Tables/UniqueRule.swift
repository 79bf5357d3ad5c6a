/// The treatment of a row that arrives with the values of a local row in UNIQUE columns.
public enum UniqueRule: String, Hashable, Sendable {
    /// The record that reached the server first stays. The other row is deleted on all devices and kept in
    /// the journal under the rule `unique`; references to it are redirected to the row that stays.
    case firstWins
    /// Nothing is deleted: the row that arrived is quarantined, with its reason in the status, until the
    /// user has changed or deleted one of the two. It stays on the device where it was created.
    ///
    /// Use it for a UNIQUE index that a new version of the app adds, while older versions insert
    /// rows that violate it.
    case waits
}
