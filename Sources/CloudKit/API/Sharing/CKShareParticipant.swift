public import Foundation

/// Someone who takes part in a share.
///
/// Apps write `CKShare.Participant`, and get one from the container, by address.
open class CKShareParticipant: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// The identity of a participant within a share.
    public typealias ID = String

    /// Whether a participant has come.
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus

    /// What a participant may do.
    public typealias Permission = CKShare.ParticipantPermission

    /// What a participant is to the share.
    public typealias Role = CKShare.ParticipantRole

    /// Who it is.
    open var userIdentity: CKUserIdentity { identity }

    /// What the participant is to the share.
    open var role: CKShare.ParticipantRole

    /// What the participant is to the share, as it was asked before there were roles; who administers
    /// a share counts as invited.
    @available(*, deprecated, renamed: "role")
    open var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(role) }
        set { role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    /// Whether the participant has come.
    open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { status }

    /// What the participant may do.
    open var permission: CKShare.ParticipantPermission

    /// The participant's identity within the share.
    public var participantID: CKShare.Participant.ID { name }

    private let identity: CKUserIdentity
    private let status: AcceptanceStatus
    private let name: String

    init(
        _ identity: CKUserIdentity,
        id: String = UUID().uuidString,
        role: Role = .privateUser,
        permission: Permission = .readOnly,
        status: AcceptanceStatus = .pending
    ) {
        self.identity = identity
        name = id
        self.role = role
        self.permission = permission
        self.status = status
    }

    /// An independent participant with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKShareParticipant(identity, id: name, role: role, permission: permission, status: status)
    }

    /// Whether both are the same person's part in a share.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return self === other || name == other.name || isSamePerson(as: other)
    }

    /// The same for all participants: equal ones may have different identities.
    open override var hash: Int { 0 }

    /// Whether user record or address are the same.
    func isSamePerson(as other: CKShareParticipant) -> Bool {
        if let user = identity.userRecordID, let otherUser = other.identity.userRecordID {
            return user.isEqual(otherUser)
        }
        if let found = identity.lookupInfo, let otherFound = other.identity.lookupInfo {
            return found.isEqual(otherFound)
        }
        return false
    }

    /// True: an archived participant can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes all values.
    open func encode(with coder: NSCoder) {
        coder.encode(identity, forKey: "UserIdentity")
        coder.encode(name as NSString, forKey: "ParticipantID")
        coder.encode(Int64(role.rawValue), forKey: "Role")
        coder.encode(Int64(permission.rawValue), forKey: "Permission")
        coder.encode(Int64(status.rawValue), forKey: "AcceptanceStatus")
    }

    /// Reads a participant; nil without an identity.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let identity = coder.object(CKUserIdentity.self, forKey: "UserIdentity") else {
            return nil
        }
        self.identity = identity
        name = coder.string(forKey: "ParticipantID") ?? UUID().uuidString
        role = coder.choice(forKey: "Role") ?? .unknown
        permission = coder.choice(forKey: "Permission") ?? .unknown
        status = coder.choice(forKey: "AcceptanceStatus") ?? .unknown
    }

    /// Who it is, and what the participant may do.
    open override var description: String {
        "<CKShareParticipant: \(identity); \(role); \(permission); \(status)>"
    }
}
