public import Foundation

/// A record that says who may see and change another record and what lies below it, or a whole zone.
///
/// Save a new share together with its root record, in one operation. A share is always saved under
/// `.ifServerRecordUnchanged`.
open class CKShare: CKRecord, @unchecked Sendable {
    // @unchecked Sendable because Apple's class is; as there, a share that one thread changes must
    // not be used by another at the same time.

    /// Someone who takes part in a share.
    public typealias Participant = CKShareParticipant

    /// What a link to a share stands for.
    public typealias Metadata = CKShareMetadata

    /// The keys of a share's own fields.
    public enum SystemFieldKey {
        /// The share's title.
        public static let title: CKRecord.FieldKey = "cloudkit.title"
        /// A small picture of what is shared.
        public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
        /// What kind of thing is shared.
        public static let shareType: CKRecord.FieldKey = "cloudkit.type"
    }

    var parts: ShareParts

    /// Makes a share of a record and what lies below it, with a new name in the record's zone.
    public init(rootRecord: CKRecord) {
        let shareID = CKRecord.ID(
            recordName: "Share-\(UUID().uuidString)",
            zoneID: rootRecord.recordID.zoneID
        )
        parts = ShareParts(rootRecordID: rootRecord.recordID, rootTag: rootRecord.recordChangeTag)
        super.init(system: Self.system(shareID))
        rootRecord.system.share = CKRecord.Reference(recordID: shareID, action: .none)
    }

    /// Makes a share of a record and what lies below it.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        parts = ShareParts(rootRecordID: rootRecord.recordID, rootTag: rootRecord.recordChangeTag)
        super.init(system: Self.system(shareID))
        rootRecord.system.share = CKRecord.Reference(recordID: shareID, action: .none)
    }

    /// Makes a share of a whole zone.
    public init(recordZoneID: CKRecordZone.ID) {
        parts = ShareParts()
        let shareID = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID)
        super.init(system: Self.system(shareID))
    }

    private static func system(_ shareID: CKRecord.ID) -> SystemFields {
        SystemFields(recordType: CKRecord.SystemType.share, recordID: shareID)
    }

    /// Makes the share of a fetched record.
    init(system: SystemFields, plain: FieldStore, encrypted: FieldStore, parts: ShareParts) {
        self.parts = parts
        super.init(system: system, plain: plain, encrypted: encrypted)
    }

    // MARK: Who takes part

    /// What everyone with the link may do.
    ///
    /// Letting everyone in removes the invited who have not come yet; letting nobody in removes who
    /// came through the link.
    open var publicPermission: CKShare.ParticipantPermission {
        get { parts.publicPermission }
        set { parts.setPublicPermission(newValue) }
    }

    /// The link; nil before the share is saved.
    open var url: URL? { parts.url }

    /// Everyone who takes part, the owner included.
    open var participants: [CKShare.Participant] { parts.participants }

    /// Who shares.
    open var owner: CKShare.Participant { parts.owner }

    /// The current user; nil when the user takes no part.
    open var currentUserParticipant: CKShare.Participant? { parts.currentUser }

    /// Invites someone, or changes what someone may do; saving the share sends it.
    open func addParticipant(_ participant: CKShare.Participant) {
        parts.add(participant)
    }

    /// Removes someone; saving the share sends it.
    open func removeParticipant(_ participant: CKShare.Participant) {
        parts.remove(participant)
    }

    // MARK: Copying and coding

    /// An independent share with the same identity, version, values, participants and changes.
    open override func copy(with zone: NSZone? = nil) -> Any {
        CKShare(system: system, plain: plain, encrypted: encrypted, parts: parts.copy())
    }

    /// Writes the share with its participants, values and changes.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        ShareArchive.encode(parts, with: coder)
    }

    /// Writes all but the fields.
    open override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        ShareArchive.encode(parts, with: coder)
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads a share; nil when the archive holds none.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        parts = ShareArchive.decode(aDecoder)
        super.init(coder: aDecoder)
        guard recordType == CKRecord.SystemType.share else { return nil }
    }
}
