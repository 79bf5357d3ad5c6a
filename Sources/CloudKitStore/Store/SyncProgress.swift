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
