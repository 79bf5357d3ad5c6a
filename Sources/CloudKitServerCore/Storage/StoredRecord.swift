#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A record, or the tombstone that is left of one.
public struct StoredRecord: Hashable, Sendable {
    /// Who did something and when.
    public struct Stamp: Hashable, Sendable {
        /// Milliseconds since 1970-01-01 UTC.
        public var milliseconds: Int64
        /// The user record name of who did it.
        public var user: String

        /// Makes a stamp.
        public init(milliseconds: Int64, user: String) {
            self.milliseconds = milliseconds
            self.user = user
        }
    }

    /// The row; a record made anew under an old name keeps it.
    public var id: RowID<StoredRecord>
    /// The zone.
    public var zone: RowID<StoredZone>
    /// The record's name, unique in its zone.
    public var name: String
    /// The record's type, also of a tombstone.
    public var type: String
    /// The number of the record's newest change in its zone; the change tag is made of it.
    public var sequence: Int64
    /// When and by whom the record was made.
    public var created: Stamp
    /// When and by whom the record was last changed.
    public var modified: Stamp
    /// Whether this is a tombstone.
    public var isDeleted: Bool
    /// The name of the record above this one in a shared hierarchy.
    public var parent: String?
    /// The name of the share that this record is the root of.
    public var share: String?
    /// Whether a field holds an asset.
    public var hasAssets: Bool
    /// The fields as the wire writes them, without what depends on the request.
    public var fields: Data
    /// What only records of some types have, such as the participants of a share.
    public var extra: Data?

    /// Whether the engine found that the row is not as it was written.
    public var isDamaged = false

    /// Makes a row.
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
