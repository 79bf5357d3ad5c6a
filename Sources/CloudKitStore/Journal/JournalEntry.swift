public import Foundation

/// Something that lost a merge, kept so that it can be brought back.
public struct JournalEntry: Hashable, Sendable, Identifiable {
    /// Whose edit it was.
    public enum Side: String, Hashable, Sendable {
        /// This device's.
        case local
        /// Another device's.
        case remote
    }

    /// The entry's number in this file.
    public var id: Int64
    /// When it lost, by this device's clock.
    public var date: Date
    /// The table's name.
    public var table: String
    /// The row's key: the value as text, bytes in hexadecimal, several columns as a JSON array.
    public var key: String
    /// The rule that decided: a ``MergeRule/name``, a ``DeletionRule``, `cascade` when the row went
    /// with its parent, `reference` when a deleted row was still referred to, `access` when the
    /// user may not change the row or has no part in it any more, `unique` when another row has
    /// the same values in UNIQUE columns, `deletion` when a row was deleted elsewhere by someone who may not have seen what this device saved last.
    public var rule: String
    /// Whose edit lost.
    public var side: Side
    /// The values that lost, by field; none when a deletion lost.
    public var lost: [String: StoreValue]
    /// The values that won; nil when the row was deleted.
    public var kept: [String: StoreValue]?
}
