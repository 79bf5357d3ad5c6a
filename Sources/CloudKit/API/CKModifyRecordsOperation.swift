public import Foundation

/// Saves and deletes records.
open class CKModifyRecordsOperation: Operation, @unchecked Sendable {
    // @unchecked Sendable because Operation is; a subclass has to repeat it, and stores nothing yet.

    /// Against what a save is checked, and what of a record is sent.
    @nonexhaustive
    public enum RecordSavePolicy: Int, Sendable {
        /// Sends what changed, and fails when the server's version is newer.
        case ifServerRecordUnchanged = 0
        /// Sends what changed, whatever the server's version.
        case changedKeys = 1
        /// Sends all fields, whatever the server's version.
        case allKeys = 2
    }
}
