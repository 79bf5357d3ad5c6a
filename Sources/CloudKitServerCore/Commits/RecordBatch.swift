import CloudKitWire

/// The operations of one request on one zone.
struct RecordBatch: Sendable {
    /// An operation with its record's name, which the service creates if the client provided none.
    struct Item: Sendable {
        /// The operation's index in the request.
        var position: Int
        var name: String
        var operation: RecordOperation

        /// Returns the parent of this record after the operation.
        func parent(over existing: StoredRecord?) -> String? {
            let record = operation.record
            if let parent = record.parent?.recordName { return parent }
            let losesParent =
                operation.operationType.clearsOtherFields || record.removesParent == true
            return losesParent ? nil : existing?.parent
        }

        /// The record without which this one cannot be saved: its parent, or the record that it shares.
        var base: String? {
            guard !operation.operationType.isDelete else { return nil }
            return operation.record.parent?.recordName
                ?? operation.record.shareParts?.forRecord?.recordName
        }
    }

    /// The zone as the request names it.
    var zone: WireZoneID
    var items: [Item]
    /// `true` when either all operations succeed or none.
    var isAtomic: Bool
    /// The records that were prepared before the commit, if any.
    var prepared: PreparedRecords?

    /// Returns whether the batch creates or changes a record, if the operation succeeds.
    func saves(_ name: String) -> Bool {
        items.contains { $0.name == name && !$0.operation.operationType.isDelete }
    }

    /// Returns whether the batch deletes a record, if the operation succeeds.
    func deletes(_ name: String) -> Bool {
        items.contains { $0.name == name && $0.operation.operationType.isDelete }
    }

    /// The indexes of the items in the order in which they are applied: the order of the request,
    /// except that a record follows the one without which it cannot be saved.
    var order: [Int] {
        // Most batches have no records that depend on each other.
        guard items.contains(where: { $0.base != nil }) else { return Array(items.indices) }
        let places = Dictionary(zip(items.map(\.name), items.indices)) { first, _ in first }
        var order: [Int] = []
        order.reserveCapacity(items.count)
        var isPlaced = [Bool](repeating: false, count: items.count)
        for start in items.indices {
            var climbed: [Int] = []
            var next: Int? = start
            // A circle ends where it began.
            while let place = next, !isPlaced[place] {
                isPlaced[place] = true
                climbed.append(place)
                next = items[place].base.flatMap { places[$0] }
            }
            order += climbed.reversed()
        }
        return order
    }
}
