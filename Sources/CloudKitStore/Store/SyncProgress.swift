/// How far a fetch or a send is.
public struct SyncProgress: Hashable, Sendable {
    /// Which way the items go.
    public enum Direction: Hashable, Sendable {
        /// From the server to this device.
        case receiving
        /// From this device to the server.
        case sending
    }

    /// Which way the items go.
    public var direction: Direction
    /// The number of items that are done: records that are in the file, or that the server took.
    public var done = 0
    /// The number of all items; nil while receiving, because CloudKit does not say how many there are.
    ///
    /// It grows when the app goes on writing.
    public var total: Int?

    /// The part that is done, from 0 to 1; nil where the total is not known.
    public var fraction: Double? {
        total.map { $0 > 0 ? Double(done) / Double($0) : 1 }
    }
}
