import CloudKit

/// The changes that a fetch has brought and the file does not have yet.
struct Arrivals: Sendable {
    var records: [CKRecord] = []
    /// The zone of the records.
    var zone = StoreZone.own
    /// The engine's state after these records and all previous ones.
    var engine: CKSyncEngine.State.Serialization?
    /// The task that writes arrivals while there are enough of them.
    var writer: Task<Void, any Error>?
    /// `true` while the writer runs.
    var isWriting = false
    /// The maximum number of records in one transaction; it adapts to their duration.
    private(set) var limit = 100

    private static let limits = 25...1000
    /// The target duration of a transaction, short enough that other writers hardly notice it.
    private static let target = Duration.milliseconds(15)

    /// `true` when there is enough to write: several transactions of records with adjacent names,
    /// which share pages of the indexes.
    var isEnough: Bool { records.count >= 6 * limit }
    /// `true` when the engine should wait before it brings more.
    var isTooMuch: Bool { records.count >= 10 * limit }

    var isEmpty: Bool { records.isEmpty && engine == nil && !isWriting }

    /// Removes and returns the arrivals.
    mutating func take() -> Arrivals {
        let taken = self
        records = []
        engine = nil
        return taken
    }

    /// Removes and returns the arrivals if there are enough; otherwise marks the writer as finished.
    mutating func takeEnough() -> Arrivals? {
        isWriting = isEnough
        return isWriting ? take() : nil
    }

    /// Adapts the limit to the duration of a transaction.
    mutating func adapt(to duration: Duration, of count: Int) {
        // A small transaction predicts little about a large one.
        guard 2 * count > limit else { return }
        let most = Double(count) * (Self.target / max(duration, .microseconds(1)))
        // At most doubled: one fast transaction says little.
        let next = Int(min(most, Double(2 * limit)))
        limit = min(max(next, Self.limits.lowerBound), Self.limits.upperBound)
    }
}
