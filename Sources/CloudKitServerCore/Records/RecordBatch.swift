import CloudKitWire

/// The operations of one request on one zone.
struct RecordBatch: Sendable {
    /// One operation with its record's name, which the service makes where the client gave none.
    struct Item: Sendable {
        /// Its place in the request.
        var position: Int
        var name: String
        var operation: RecordOperation

        /// The record above this one after the operation.
        func parent(over existing: StoredRecord?) -> String? {
            let record = operation.record
            if let parent = record.parent?.recordName { return parent }
            let losesParent =
                operation.operationType.clearsOtherFields || record.removesParent == true
            return losesParent ? nil : existing?.parent
        }

        /// The record without which this one cannot be saved: its parent, or what it shares.
        var base: String? {
            guard !operation.operationType.isDelete else { return nil }
            return operation.record.parent?.recordName
                ?? operation.record.shareParts?.forRecord?.recordName
        }
    }

    /// The zone as the request names it.
    var zone: WireZoneID
    var items: [Item]
    /// Whether all operations succeed or none.
    var isAtomic: Bool

    /// Whether the batch makes or changes a record, in so far as it succeeds.
    func saves(_ name: String) -> Bool {
        items.contains { $0.name == name && !$0.operation.operationType.isDelete }
    }

    /// Whether the batch deletes a record, in so far as it succeeds.
    func deletes(_ name: String) -> Bool {
        items.contains { $0.name == name && $0.operation.operationType.isDelete }
    }

    /// The places of the items in the order in which they are applied: that of the request, but
    /// that a record comes after the one without which it cannot be saved.
    var order: [Int] {
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
