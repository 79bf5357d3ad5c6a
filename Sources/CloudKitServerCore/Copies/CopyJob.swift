import CloudKitWire

/// A copy of records from one zone to another that goes on batch by batch.
///
/// What was done is written in the commit of the batch that did it, so that a copy that is broken off
/// goes on behind its last batch, in whichever service asks next, and copies nothing twice.
struct CopyJob: Codable, Sendable {
    /// How far a copy is; no document says which words Apple's service uses.
    enum Status: String, Codable, Sendable {
        case inProgress = "IN_PROGRESS"
        case completed = "COMPLETED"
        case failed = "FAILED"
    }

    /// A zone, and which life of it.
    struct Place: Codable, Hashable, Sendable {
        var zone: WireZoneID
        var database: DatabaseScope
        var row: Int64
        var incarnation: Int64
    }

    /// Records of one copy at most.
    static let recordLimit = 50_000
    /// Copies of a user that are remembered; one more makes the service forget the oldest that ended.
    static let countLimit = 20
    /// Batches that one request does.
    static let batchesPerRequest = 2
    /// Records, and bytes of their fields, that are copied in one commit.
    static let batchSize = Limits.operationsPerRequest
    static let batchBytes = 4 * 1024 * 1024
    /// Milliseconds for which a copy is remembered after its last step.
    static let life: Int64 = 24 * 60 * 60 * 1000

    var id: String
    var source: Place
    var target: Place
    /// The record of the target zone that becomes the parent of those whose own is not copied.
    var root: String?
    var status = Status.inProgress
    var done = 0
    var total: Int
    /// When the last step was done, in milliseconds since 1970-01-01 UTC.
    var changed: Int64
    var code: ServerErrorCode?
    var reason: String?

    /// Whether nobody will ask for it any more.
    func hasEnded(now: Int64) -> Bool { status != .inProgress && changed + Self.life <= now }

    /// Ends the copy; what was copied stays.
    mutating func fail(_ code: ServerErrorCode, _ reason: String) {
        status = .failed
        self.code = code
        self.reason = reason
    }
}
