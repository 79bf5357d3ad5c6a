/// A participant of a share.
public struct WireParticipant: Hashable, Sendable, Codable {
    /// The role of a participant in a share.
    public enum ParticipantType: String, Hashable, Sendable, Codable, CaseIterable {
        /// The owner of the share.
        case owner = "OWNER"
        /// A participant who may manage the share besides its owner.
        case administrator = "ADMINISTRATOR"
        /// A participant who was invited.
        case user = "USER"
        /// A participant who joined through the link of a public share.
        case publicUser = "PUBLIC_USER"
        /// A role that this version does not know.
        case unknown = "UNKNOWN"

        /// Creates a role by decoding; `PRIVATE_USER` is another name for an invited user.
        public init(from decoder: any Decoder) throws {
            let name = try decoder.singleValueContainer().decode(String.self)
            self = name == "PRIVATE_USER" ? .user : Self(rawValue: name) ?? .unknown
        }
    }

    /// The access that a participant has to the shared records.
    public enum Permission: String, Hashable, Sendable, Codable, CaseIterable {
        /// No access.
        case none = "NONE"
        /// Read access.
        case readOnly = "READ_ONLY"
        /// Read and write access.
        case readWrite = "READ_WRITE"
        /// A permission that this version does not know.
        case unknown = "UNKNOWN"

        /// Creates a permission by decoding.
        public init(from decoder: any Decoder) throws {
            let name = try decoder.singleValueContainer().decode(String.self)
            self = Self(rawValue: name) ?? .unknown
        }
    }

    /// The acceptance status of a participant.
    public enum AcceptanceStatus: String, Hashable, Sendable, Codable, CaseIterable {
        /// The participant was invited and has not accepted yet.
        case invited = "INVITED"
        /// Another name for `invited`.
        case pending = "PENDING"
        /// The participant has accepted.
        case accepted = "ACCEPTED"
        /// The participant has left or was removed.
        case removed = "REMOVED"
        /// A status that this version does not know.
        case unknown = "UNKNOWN"

        /// Creates a status by decoding.
        public init(from decoder: any Decoder) throws {
            let name = try decoder.singleValueContainer().decode(String.self)
            self = Self(rawValue: name) ?? .unknown
        }
    }

    /// The participant's ID within the share.
    public var participantId: String?
    /// The participant's role.
    public var type: ParticipantType?
    /// The participant's access to the shared records.
    public var permission: Permission?
    /// The participant's acceptance status.
    public var acceptanceStatus: AcceptanceStatus?
    /// The participant's identity.
    public var userIdentity: ParticipantIdentity?

    /// Creates a participant.
    public init(
        participantId: String? = nil,
        type: ParticipantType?,
        permission: Permission?,
        acceptanceStatus: AcceptanceStatus?,
        userIdentity: ParticipantIdentity?
    ) {
        self.participantId = participantId
        self.type = type
        self.permission = permission
        self.acceptanceStatus = acceptanceStatus
        self.userIdentity = userIdentity
    }
}

/// A participant's identity: someone invited by address has no user record yet.
public struct ParticipantIdentity: Hashable, Sendable, Codable {
    /// The name of the user's record.
    public var userRecordName: String?
    /// The user's name, where it is known.
    public var nameComponents: UserIdentity.NameComponents?
    /// The key that the user was looked up by.
    public var lookupInfo: UserIdentity.LookupInfo?

    /// Creates an identity.
    public init(
        userRecordName: String?,
        nameComponents: UserIdentity.NameComponents? = nil,
        lookupInfo: UserIdentity.LookupInfo? = nil
    ) {
        self.userRecordName = userRecordName
        self.nameComponents = nameComponents
        self.lookupInfo = lookupInfo
    }
}
