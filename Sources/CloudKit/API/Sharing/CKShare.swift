public import Foundation

/// A record that grants people access to a hierarchy of records or to a whole zone.
///
/// ```swift
/// let share = CKShare(rootRecord: list)
/// share[CKShare.SystemFieldKey.title] = "Shopping"
/// share.publicPermission = .readOnly
/// _ = try await database.modifyRecords(saving: [list, share], deleting: [])
/// let link = share.url
/// ```
///
/// Save a new share together with its root record, in one operation. A share is always saved under
/// `.ifServerRecordUnchanged`.
open class CKShare: CKRecord, @unchecked Sendable {
    // @unchecked Sendable because Apple's class is; as with Apple's, a share that one thread
    // changes must not be used by another at the same time.

    /// A participant of a share.
    public typealias Participant = CKShareParticipant

    /// The target of a link to a share.
    public typealias Metadata = CKShareMetadata

    /// The keys of a share's own fields.
    public enum SystemFieldKey {
        /// The share's title.
        public static let title: CKRecord.FieldKey = "cloudkit.title"
        /// A small picture of the shared data.
        public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
        /// The type of the shared data.
        public static let shareType: CKRecord.FieldKey = "cloudkit.type"
    }

    var parts: ShareParts

    /// Creates a share of a record and its hierarchy, with a new name in the record's zone.
    public init(rootRecord: CKRecord) {
        let shareID = CKRecord.ID(
            recordName: "Share-\(UUID().uuidString)",
            zoneID: rootRecord.recordID.zoneID
        )
        parts = ShareParts(rootRecordID: rootRecord.recordID, rootTag: rootRecord.recordChangeTag)
        super.init(system: Self.system(shareID))
        rootRecord.system.share = CKRecord.Reference(recordID: shareID, action: .none)
    }

    /// Creates a share of a record and its hierarchy, with an ID.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        parts = ShareParts(rootRecordID: rootRecord.recordID, rootTag: rootRecord.recordChangeTag)
        super.init(system: Self.system(shareID))
        rootRecord.system.share = CKRecord.Reference(recordID: shareID, action: .none)
    }

    /// Creates a share of a whole zone.
    public init(recordZoneID: CKRecordZone.ID) {
        parts = ShareParts()
        let shareID = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID)
        super.init(system: Self.system(shareID))
    }

    private static func system(_ shareID: CKRecord.ID) -> SystemFields {
        SystemFields(recordType: CKRecord.SystemType.share, recordID: shareID)
    }

    /// Creates the share of a fetched record.
    init(system: SystemFields, plain: FieldStore, encrypted: FieldStore, parts: ShareParts) {
        self.parts = parts
        super.init(system: system, plain: plain, encrypted: encrypted)
    }

    // MARK: Participants

    /// The access that everyone with the link has.
    ///
    /// Granting access removes invited people who have not accepted yet; withdrawing it removes
    /// those who joined through the link.
    open var publicPermission: CKShare.ParticipantPermission {
        get { parts.publicPermission }
        set { parts.setPublicPermission(newValue) }
    }

    /// The link to the share; nil before the share is saved.
    open var url: URL? { parts.url }

    /// All participants, the owner included.
    open var participants: [CKShare.Participant] { parts.participants }

    /// The owner of the share.
    open var owner: CKShare.Participant { parts.owner }

    /// The current user as a participant; nil if the user is none.
    open var currentUserParticipant: CKShare.Participant? { parts.currentUser }

    /// Adds a participant, or changes the participant's permission; takes effect when the share is
    /// saved.
    open func addParticipant(_ participant: CKShare.Participant) {
        parts.add(participant)
    }

    /// Removes a participant; takes effect when the share is saved.
    open func removeParticipant(_ participant: CKShare.Participant) {
        parts.remove(participant)
    }

    // MARK: Copying and coding

    /// Returns an independent copy with the same ID, version, values, participants and changes.
    open override func copy(with zone: NSZone? = nil) -> Any {
        CKShare(system: system, plain: plain, encrypted: encrypted, parts: parts.copy())
    }

    /// Encodes the share with its participants, values and changes.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        ShareArchive.encode(parts, with: coder)
    }

    /// Encodes the system fields only.
    open override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        ShareArchive.encode(parts, with: coder)
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates a share from an archive; nil when the archive holds none.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        parts = ShareArchive.decode(aDecoder)
        super.init(coder: aDecoder)
        guard recordType == CKRecord.SystemType.share else { return nil }
    }
}
