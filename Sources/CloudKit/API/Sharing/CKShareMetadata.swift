public import Foundation

/// The target of a link to a share: the share, its owner, and the user's part in it.
///
/// Apps write `CKShare.Metadata`.
open class CKShareMetadata: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The ID of the share's container.
    open var containerIdentifier: String { details.containerIdentifier }

    /// The share.
    open var share: CKShare { details.share }

    /// The ID of the shared record; nil for a share of a whole zone.
    open var hierarchicalRootRecordID: CKRecord.ID? { details.rootRecordID }

    /// The user's role in the share.
    open var participantRole: CKShare.ParticipantRole { details.role }

    /// The user's type in the share, an earlier form of the role.
    @available(*, deprecated, renamed: "participantRole")
    open var participantType: CKShare.ParticipantType { CKShare.ParticipantType(details.role) }

    /// The user's acceptance status.
    open var participantStatus: CKShare.ParticipantAcceptanceStatus { details.status }

    /// The user's access to the shared records.
    open var participantPermission: CKShare.ParticipantPermission { details.permission }

    /// The identity of the share's owner.
    open var ownerIdentity: CKUserIdentity { details.ownerIdentity }

    /// The shared record, if the operation was to fetch it.
    open var rootRecord: CKRecord? { details.rootRecord }

    /// The ID of the shared record; for a share of a whole zone, the ID of the share.
    @available(*, deprecated, renamed: "hierarchicalRootRecordID")
    open var rootRecordID: CKRecord.ID { details.rootRecordID ?? details.share.recordID }

    struct Details {
        var containerIdentifier: String
        var share: CKShare
        var rootRecordID: CKRecord.ID?
        var rootRecord: CKRecord?
        var role: CKShare.ParticipantRole
        var status: CKShare.ParticipantAcceptanceStatus
        var permission: CKShare.ParticipantPermission
        var ownerIdentity: CKUserIdentity
        /// The last part of the link, by which the share is accepted.
        var shortGUID: String
    }

    let details: Details

    init(_ details: Details) {
        self.details = details
    }

    /// Returns the metadata itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether both belong to the same share.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareMetadata else { return false }
        return self === other
            || (details.shortGUID == other.details.shortGUID
                && containerIdentifier == other.containerIdentifier)
    }

    /// A hash of the link.
    open override var hash: Int { details.shortGUID.hashValue }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all values.
    open func encode(with coder: NSCoder) {
        coder.encode(details.containerIdentifier as NSString, forKey: "ContainerID")
        coder.encode(details.share, forKey: "Share")
        coder.encode(details.rootRecordID, forKey: "RootRecordID")
        coder.encode(details.rootRecord, forKey: "RootRecord")
        coder.encode(Int64(details.role.rawValue), forKey: "ParticipantRole")
        coder.encode(Int64(details.status.rawValue), forKey: "ParticipantStatus")
        coder.encode(Int64(details.permission.rawValue), forKey: "ParticipantPermission")
        coder.encode(details.ownerIdentity, forKey: "OwnerIdentity")
        coder.encode(details.shortGUID as NSString, forKey: "swift-cloudkit.shortGUID")
    }

    /// Creates metadata from an archive; nil when the share, its owner or its link is missing.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let container = coder.string(forKey: "ContainerID"),
            let share = coder.object(CKShare.self, forKey: "Share"),
            let owner = coder.object(CKUserIdentity.self, forKey: "OwnerIdentity"),
            let shortGUID = coder.string(forKey: "swift-cloudkit.shortGUID")
        else { return nil }
        details = Details(
            containerIdentifier: container,
            share: share,
            rootRecordID: coder.object(CKRecord.ID.self, forKey: "RootRecordID"),
            rootRecord: coder.object(CKRecord.self, forKey: "RootRecord"),
            role: coder.choice(forKey: "ParticipantRole") ?? .unknown,
            status: coder.choice(forKey: "ParticipantStatus") ?? .unknown,
            permission: coder.choice(forKey: "ParticipantPermission") ?? .unknown,
            ownerIdentity: owner,
            shortGUID: shortGUID
        )
    }
}
