#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A record or a tombstone.
public struct StoredRecord: Hashable, Sendable {
    /// The user and the time of a change.
    public struct Stamp: Hashable, Sendable {
        /// The time in milliseconds since 1970-01-01 UTC.
        public var milliseconds: Int64
        /// The record name of the user.
        public var user: String

        /// Creates a stamp.
        public init(milliseconds: Int64, user: String) {
            self.milliseconds = milliseconds
            self.user = user
        }
    }

    /// The row; a record that is created again under an old name keeps it.
    public var id: RowID<StoredRecord>
    /// The zone.
    public var zone: RowID<StoredZone>
    /// The record's name, unique in its zone.
    public var name: String
    /// The record's type, also for a tombstone.
    public var type: String
    /// The number of the record's newest change in its zone, which determines the change tag.
    public var sequence: Int64
    /// The time and the user of the record's creation.
    public var created: Stamp
    /// The time and the user of the record's last change.
    public var modified: Stamp
    /// A Boolean value that indicates whether this is a tombstone.
    public var isDeleted: Bool
    /// The name of the record above this one in a shared hierarchy.
    public var parent: String?
    /// The name of the share that this record is the root of.
    public var share: String?
    /// A Boolean value that indicates whether a field holds an asset.
    public var hasAssets: Bool
    /// The fields in the wire format, without anything that depends on the request.
    public var fields: Data
    /// The parts that only records of some types have, such as the participants of a share.
    public var extra: Data?

    /// A Boolean value that indicates whether the engine found the row to be damaged.
    public var isDamaged = false

    /// Creates a row.
    public init(
        id: RowID<StoredRecord>,
        zone: RowID<StoredZone>,
        name: String,
        type: String,
        sequence: Int64,
        created: Stamp,
        modified: Stamp,
        isDeleted: Bool = false,
        parent: String? = nil,
        share: String? = nil,
        hasAssets: Bool = false,
        fields: Data,
        extra: Data? = nil
    ) {
        self.id = id
        self.zone = zone
        self.name = name
        self.type = type
        self.sequence = sequence
        self.created = created
        self.modified = modified
        self.isDeleted = isDeleted
        self.parent = parent
        self.share = share
        self.hasAssets = hasAssets
        self.fields = fields
        self.extra = extra
    }
}

/// A record or tombstone, without the parts that may be large.
public struct StoredRecordHead: Hashable, Sendable {
    /// The row, with empty fields and no `extra`; whether it is damaged is unknown.
    public var record: StoredRecord
    /// The number of bytes of its fields.
    public var fieldBytes: Int

    /// Creates a head from a row that was read without its fields.
    public init(_ record: StoredRecord, fieldBytes: Int) {
        self.record = record
        self.fieldBytes = fieldBytes
    }

    init(of record: StoredRecord) {
        self.init(record, fieldBytes: record.fields.count)
        self.record.fields.removeAll()
        self.record.extra = nil
    }
}
