/// One change to one record in a `records/modify` request.
public struct RecordOperation: Hashable, Sendable, Codable {
    /// What is done to the record ("Modifying Records" in Apple's reference).
    public enum OperationType: String, Hashable, Sendable, Codable, CaseIterable {
        /// Makes the record; it must not exist.
        case create
        /// Changes the fields given; the change tag must match.
        case update
        /// Changes the fields given whatever the tag, or makes the record.
        case forceUpdate
        /// Sets the fields given and clears all others; the change tag must match.
        case replace
        /// Sets the fields given and clears all others whatever the tag, or makes the record.
        case forceReplace
        /// Deletes the record; the change tag must match.
        case delete
        /// Deletes the record whatever the tag; a missing one counts as deleted.
        case forceDelete

        /// Whether the record is deleted.
        public var isDelete: Bool { self == .delete || self == .forceDelete }
        /// Whether the record's change tag must match the server's.
        public var checksTag: Bool { self == .update || self == .replace || self == .delete }
        /// Whether a missing record is made.
        public var creates: Bool {
            self == .create || self == .forceUpdate || self == .forceReplace
        }
        /// Whether fields that are not given are cleared.
        public var clearsOtherFields: Bool { self == .replace || self == .forceReplace }
    }

    /// What is done.
    public var operationType: OperationType
    /// The record, with the fields that matter to the operation.
    public var record: WireRecord
    /// The fields that the answer echoes; nil for all.
    public var desiredKeys: [String]?

    /// Makes an operation.
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
