/// Someone who takes part in a share.
public struct WireParticipant: Hashable, Sendable, Codable {
    /// What a participant is to the share.
    public enum ParticipantType: String, Hashable, Sendable, Codable, CaseIterable {
        /// Who shares.
        case owner = "OWNER"
        /// Who may manage the share besides its owner.
        case administrator = "ADMINISTRATOR"
        /// Who was invited.
        case user = "USER"
        /// Who came through the link of a public share.
        case publicUser = "PUBLIC_USER"
        /// Something that this version does not know.
        case unknown = "UNKNOWN"

        /// Reads a type; `PRIVATE_USER` is another name of an invited user.
        public init(from decoder: any Decoder) throws {
            let name = try decoder.singleValueContainer().decode(String.self)
            self = name == "PRIVATE_USER" ? .user : Self(rawValue: name) ?? .unknown
        }
    }

    /// What a participant may do.
    public enum Permission: String, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing.
        case none = "NONE"
        /// See.
        case readOnly = "READ_ONLY"
        /// See and change.
        case readWrite = "READ_WRITE"
        /// Something that this version does not know.
        case unknown = "UNKNOWN"

        /// Reads a permission.
        public init(from decoder: any Decoder) throws {
            let name = try decoder.singleValueContainer().decode(String.self)
            self = Self(rawValue: name) ?? .unknown
        }
    }

    /// Whether a participant has come.
    public enum AcceptanceStatus: String, Hashable, Sendable, Codable, CaseIterable {
        /// Invited, and not come yet.
        case invited = "INVITED"
        /// Another word for invited.
        case pending = "PENDING"
        /// Has accepted.
        case accepted = "ACCEPTED"
        /// Has left or was removed.
        case removed = "REMOVED"
        /// Something that this version does not know.
        case unknown = "UNKNOWN"

        /// Reads a status.
        public init(from decoder: any Decoder) throws {
            let name = try decoder.singleValueContainer().decode(String.self)
            self = Self(rawValue: name) ?? .unknown
        }
    }

    /// The participant's identity within the share.
    public var participantId: String?
    /// What the participant is to the share.
    public var type: ParticipantType?
    /// What the participant may do.
    public var permission: Permission?
    /// Whether the participant has come.
    public var acceptanceStatus: AcceptanceStatus?
    /// Who it is.
    public var userIdentity: ParticipantIdentity?

    /// Makes a participant.
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

/// Who a participant is: someone invited by address has no user record yet.
public struct ParticipantIdentity: Hashable, Sendable, Codable {
    /// The name of the user's record.
    public var userRecordName: String?
    /// The user's name, where it is known.
    public var nameComponents: UserIdentity.NameComponents?
    /// What the user was found by.
    public var lookupInfo: UserIdentity.LookupInfo?

    /// Makes an identity.
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
