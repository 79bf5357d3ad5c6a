/// The results of a sync.
public struct SyncSummary: Hashable, Sendable {
    /// The rows that the server changed here.
    public var received: [RowChange] = []
    /// The number of records that the server accepted.
    public var saved = 0
    /// The number of records that the server deleted.
    public var deleted = 0
    /// A Boolean value that indicates whether the user's storage was full.
    ///
    /// Changes without room wait, and the next sync sends them again.
    public var isOverQuota = false

    /// Creates the summary of a sync that had nothing to do.
    public init() {}
}

/// A change that the server made to a row of this device.
public struct RowChange: Hashable, Sendable {
    /// The kinds of changes.
    public enum Kind: String, Hashable, Sendable {
        /// The row is new here.
        case inserted
        /// The row has other values.
        case updated
        /// The row was deleted.
        case deleted
    }

    /// The kind of change.
    public var kind: Kind
    /// The table's name.
    public var table: String
    /// The row's key: the value as text, bytes in hexadecimal, several columns as a JSON array.
    public var key: String
}

/// The progress of a fetch or a send.
public struct SyncProgress: Hashable, Sendable {
    /// The direction of a transfer.
    public enum Direction: Hashable, Sendable {
        /// From the server to this device.
        case receiving
        /// From this device to the server.
        case sending
    }

    /// The direction of the transfer.
    public var direction: Direction
    /// The number of completed items: records stored in the file, or accepted by the server.
    public var done = 0
    /// The number of all items; nil while receiving, because CloudKit does not report it.
    ///
    /// It grows while the app keeps writing.
    public var total: Int?

    /// The completed fraction, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        total.map { $0 > 0 ? Double(done) / Double($0) : 1 }
    }
}
