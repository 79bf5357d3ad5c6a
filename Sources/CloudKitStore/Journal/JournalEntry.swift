public import Foundation

/// Something that lost a merge, kept so that it can be brought back.
public struct JournalEntry: Hashable, Sendable, Identifiable {
    /// Whose edit it was, as the device that merged saw it.
    public enum Side: String, Hashable, Sendable {
        /// That device's.
        case local
        /// Another device's.
        case remote
    }

    /// The entry's number in this file; those that all devices have are below zero.
    public var id: Int64
    /// The device that merged, by its name in this cloud; nil for this one.
    public var device: String?
    /// When it lost, by the clock of the device that merged.
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
    /// The values that lost, by field; none when the user may not delete the row.
    ///
    /// A deletion that an edit or a reference overruled lost nothing, and has no entry.
    public var lost: [String: StoreValue]
    /// The values that won; nil when the row was deleted.
    public var kept: [String: StoreValue]?
}
