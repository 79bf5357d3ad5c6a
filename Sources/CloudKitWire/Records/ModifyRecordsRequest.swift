/// The body of `records/modify`.
public struct ModifyRecordsRequest: Hashable, Sendable, Codable {
    /// The changes, at most one for each record, applied in this order; but a record's parent in
    /// the same request is saved before it.
    public var operations: [RecordOperation]
    /// The zone of all records that do not name one.
    public var zoneID: WireZoneID?
    /// A Boolean value that indicates whether the changes are atomic; nil means yes in a custom
    /// zone, no in the default zone.
    public var atomic: Bool?
    /// The fields that the response includes; nil for all.
    public var desiredKeys: [String]?
    /// A Boolean value that indicates whether the response has INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case operations, zoneID, atomic, desiredKeys, numbersAsStrings
    }

    /// Creates a request.
    public init(
        operations: [RecordOperation],
        zoneID: WireZoneID? = nil,
        atomic: Bool? = nil,
        desiredKeys: [String]? = nil,
        numbersAsStrings: Bool? = nil
    ) {
        self.operations = operations
        self.zoneID = zoneID
        self.atomic = atomic
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
}

/// One change to one record in a `records/modify` request.
public struct RecordOperation: Hashable, Sendable, Codable {
    /// The kinds of changes to a record ("Modifying Records" in Apple's reference).
    public enum OperationType: String, Hashable, Sendable, Codable, CaseIterable {
        /// Creates the record; it must not exist.
        case create
        /// Changes the given fields; the change tag must match.
        case update
        /// Changes the given fields whatever the change tag, or creates the record.
        case forceUpdate
        /// Sets the given fields and clears all others; the change tag must match.
        case replace
        /// Sets the given fields and clears all others whatever the change tag, or creates the
        /// record.
        case forceReplace
        /// Deletes the record; the change tag must match.
        case delete
        /// Deletes the record whatever the change tag; a missing one counts as deleted.
        case forceDelete

        /// A Boolean value that indicates whether the operation deletes the record.
        public var isDelete: Bool { self == .delete || self == .forceDelete }
        /// A Boolean value that indicates whether the record's change tag must match the server's.
        public var checksTag: Bool { self == .update || self == .replace || self == .delete }
        /// A Boolean value that indicates whether the operation creates a missing record.
        public var creates: Bool {
            self == .create || self == .forceUpdate || self == .forceReplace
        }
        /// A Boolean value that indicates whether the operation clears all fields that are not
        /// given.
        public var clearsOtherFields: Bool { self == .replace || self == .forceReplace }
    }

    /// The kind of change.
    public var operationType: OperationType
    /// The record, with the fields that the operation uses.
    public var record: WireRecord
    /// The fields that the response includes; nil for all.
    public var desiredKeys: [String]?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case operationType, record, desiredKeys
    }

    /// Creates an operation.
    public init(
        _ operationType: OperationType,
        _ record: WireRecord,
        desiredKeys: [String]? = nil
    ) {
        self.operationType = operationType
        self.record = record
        self.desiredKeys = desiredKeys
    }
}
