import CloudKitWire

/// A copy of records from one zone to another, done in batches.
///
/// The progress is written in the commit of each batch, so that an interrupted copy continues after
/// its last batch in any process of the service, and copies nothing twice.
struct CopyJob: Codable, Sendable {
    /// The state of a copy; the words of Apple's service are undocumented.
    enum Status: String, Codable, Sendable {
        case inProgress = "IN_PROGRESS"
        case completed = "COMPLETED"
        case failed = "FAILED"
    }

    /// A zone and its generation.
    struct Place: Codable, Hashable, Sendable {
        var zone: WireZoneID
        var database: DatabaseScope
        var row: Int64
        var incarnation: Int64
    }

    /// The maximum number of records in one copy.
    static let recordLimit = 50_000
    /// The number of copies of a user that are kept; another one replaces the oldest that has ended.
    static let countLimit = 20
    /// The number of batches that one request copies.
    static let batchesPerRequest = 2
    /// The maximum number of records, and of bytes of their fields, that one commit copies.
    static let batchSize = Limits.operationsPerRequest
    static let batchBytes = 4 * 1024 * 1024
    /// The number of milliseconds for which a copy is kept after its last step.
    static let life: Int64 = 24 * 60 * 60 * 1000

    var id: String
    var source: Place
    var target: Place
    /// The record of the target zone that becomes the parent of copies whose own parent is not copied.
    var root: String?
    var status = Status.inProgress
    var done = 0
    var total: Int
    /// The time of the last step, in milliseconds since 1970-01-01 UTC.
    var changed: Int64
    var code: ServerErrorCode?
    var reason: String?

    /// Returns whether the job has ended and is no longer needed.
    func hasEnded(now: Int64) -> Bool { status != .inProgress && changed + Self.life <= now }

    /// Ends the copy with an error; records copied so far stay.
    mutating func fail(_ code: ServerErrorCode, _ reason: String) {
        status = .failed
        self.code = code
        self.reason = reason
    }
}
