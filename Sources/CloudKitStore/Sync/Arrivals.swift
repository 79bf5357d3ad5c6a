import CloudKit

/// What a fetch has brought and the file does not have yet.
struct Arrivals: Sendable {
    var records: [CKRecord] = []
    /// The zone of the records; empty for the user's own.
    var zone = ""
    /// The engine's state after these records and all before.
    var engine: CKSyncEngine.State.Serialization?
    /// Writes what arrives, as long as there is enough.
    var writer: Task<Void, any Error>?
    /// Whether the writer is at it.
    var isWriting = false
    /// The most records of one transaction; it follows how long they take.
    private(set) var limit = 100

    private static let limits = 25...1000
    /// How long a transaction is to hold the file: other writers should hardly notice.
    private static let target = Duration.milliseconds(15)

    /// Whether there is enough to write: several transactions, each of neighbours in the order of
    /// names, which share pages of the indexes.
    var isEnough: Bool { records.count >= 6 * limit }
    /// Whether the engine should wait before it brings more.
    var isTooMuch: Bool { records.count >= 10 * limit }

    var isEmpty: Bool { records.isEmpty && engine == nil && !isWriting }

    /// Takes out what is there.
    mutating func take() -> Arrivals {
        let taken = self
        records = []
        engine = nil
        return taken
    }

    /// Takes out what is there if it is enough; if not, the writer's work is done for now.
    mutating func takeEnough() -> Arrivals? {
        isWriting = isEnough
        return isWriting ? take() : nil
    }

    /// Learns how long a transaction took.
    mutating func adapt(to duration: Duration, of count: Int) {
        // A small one says little of a large one.
        guard 2 * count > limit else { return }
        let most = Double(count) * (Self.target / max(duration, .microseconds(1)))
        let next = Int(min(most, Double(2 * limit)))
        limit = min(max(next, Self.limits.lowerBound), Self.limits.upperBound)
    }
}
