public import Foundation

/// A participant of a share.
///
/// Apps write `CKShare.Participant`, and get one from the container, by address.
open class CKShareParticipant: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill in a participant before they hand it over.

    /// The ID of a participant within a share.
    public typealias ID = String

    /// The acceptance status of a participant.
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus

    /// The access that a participant has to the shared records.
    public typealias Permission = CKShare.ParticipantPermission

    /// The role of a participant in a share.
    public typealias Role = CKShare.ParticipantRole

    /// The participant's identity.
    open var userIdentity: CKUserIdentity { identity }

    /// The participant's role.
    open var role: CKShare.ParticipantRole

    /// The participant's type, an earlier form of the role; an administrator of the share counts as
    /// invited.
    @available(*, deprecated, renamed: "role")
    open var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(role) }
        set { role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    /// The participant's acceptance status.
    open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { status }

    /// The participant's access to the shared records.
    open var permission: CKShare.ParticipantPermission

    /// The participant's ID within the share.
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

    /// Returns an independent copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKShareParticipant(identity, id: name, role: role, permission: permission, status: status)
    }

    /// Returns whether both are the same person's participation in a share.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return self === other || name == other.name || isSamePerson(as: other)
    }

    /// A hash that is the same for all participants, because equal ones may have different IDs.
    open override var hash: Int { 0 }

    /// Returns whether user record or address are equal.
    func isSamePerson(as other: CKShareParticipant) -> Bool {
        if let user = identity.userRecordID, let otherUser = other.identity.userRecordID {
            return user.isEqual(otherUser)
        }
        if let found = identity.lookupInfo, let otherFound = other.identity.lookupInfo {
            return found.isEqual(otherFound)
        }
        return false
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all values.
    open func encode(with coder: NSCoder) {
        coder.encode(identity, forKey: "UserIdentity")
        coder.encode(name as NSString, forKey: "ParticipantID")
        coder.encode(Int64(role.rawValue), forKey: "Role")
        coder.encode(Int64(permission.rawValue), forKey: "Permission")
        coder.encode(Int64(status.rawValue), forKey: "AcceptanceStatus")
    }

    /// Creates a participant from an archive; nil without an identity.
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

    /// A textual representation with the identity, the role, the permission and the status.
    open override var description: String {
        "<CKShareParticipant: \(identity); \(role); \(permission); \(status)>"
    }
}
