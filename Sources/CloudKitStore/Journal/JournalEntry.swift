public import Foundation

/// An edit that lost a merge, kept so that it can be restored.
///
/// ```swift
/// for entry in try await store.journal(of: "note") where entry.rule == "access" {
///     print(entry.date, entry.key, entry.lost)
///     try await store.restore(entry)
/// }
/// ```
public struct JournalEntry: Hashable, Sendable, Identifiable {
    /// The origin of the edit, from the point of view of the device that merged.
    public enum Side: String, Hashable, Sendable {
        /// The device that merged.
        case local
        /// Another device.
        case remote
    }

    /// The entry's number in this file; shared entries have negative numbers.
    public var id: Int64
    /// The name of the device that merged; nil for this one.
    public var device: String?
    /// The date of the merge, by the clock of the device that merged.
    public var date: Date
    /// The table's name.
    public var table: String
    /// The row's key: the value as text, bytes in hexadecimal, several columns as a JSON array.
    public var key: String
    /// The rule that decided: a ``MergeRule/name``, a ``DeletionRule``, `cascade` when the row was
    /// deleted with its parent, `reference` when a deleted row was still referenced and the row that
    /// referred to it lost the reference, or was deleted, `access` when the user may not change another user's row, or it went out of sight, whether it was deleted,
    /// moved or is no longer shared, or gave up its key to another row, `unique` when another row has
    /// the same values in UNIQUE columns, also for an unsent reference to a row that left because of them, `deletion` when one of the user's own rows was deleted by
    /// someone who may not have seen this device's last save, `share` when an edit brought back a row
    /// without the share that was deleted with it, `dropped` when a migration dropped the column before
    /// the edit was sent.
    public var rule: String
    /// The side whose edit lost.
    public var side: Side
    /// The values that lost, by field; empty when the user may not delete the row, or has no access
    /// to it any more, and when a share was lost.
    ///
    /// A deletion that an edit or a reference overruled lost no values, and has no entry.
    public var lost: [String: StoreValue]
    /// The values that won; nil when the row was deleted.
    public var kept: [String: StoreValue]?

    /// The key as the journal has it, whatever ``key`` was set to.
    let recordedKey: String
    /// The zone of the row; nil for entries of earlier versions.
    let zone: StoreZone?

    /// The rule of entries about references to deleted rows.
    static let reference = "reference"
    /// The rule of entries about another user's rows.
    static let access = "access"
    /// The rule of entries about rows with UNIQUE values of others.
    static let unique = "unique"
    /// The rule of entries about columns that a migration dropped.
    static let dropped = "dropped"
    /// The rule of the entry for a lost share.
    static let share = "share"
}
