import CloudKitWire

/// The operations of one request on one zone.
struct RecordBatch: Sendable {
    /// One operation with its record's name, which the service makes where the client gave none.
    struct Item: Sendable {
        /// Its place in the request.
        var position: Int
        var name: String
        var operation: RecordOperation
    }

    /// The zone as the request names it.
    var zone: WireZoneID
    var items: [Item]
    /// Whether all operations succeed or none.
    var isAtomic: Bool

    /// The records that the batch makes or changes, in so far as it succeeds.
    var savedNames: Set<String> {
        Set(items.filter { !$0.operation.operationType.isDelete }.map(\.name))
    }

    /// The records that the batch deletes, in so far as it succeeds.
    var deletedNames: Set<String> {
        Set(items.filter(\.operation.operationType.isDelete).map(\.name))
    }
}
