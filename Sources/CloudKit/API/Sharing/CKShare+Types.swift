extension CKShare {
    /// The acceptance status of a participant.
    @nonexhaustive
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        /// The status is not known.
        case unknown = 0
        /// The participant was invited and has not accepted yet.
        case pending
        /// The participant has accepted.
        case accepted
        /// The participant has left or was removed.
        case removed
    }

    /// The access that a participant has to the shared records.
    @nonexhaustive
    public enum ParticipantPermission: Int, Sendable {
        /// The permission is not known.
        case unknown = 0
        /// No access.
        case none
        /// Read access.
        case readOnly
        /// Read and write access.
        case readWrite
    }

    /// The role of a participant in a share.
    @nonexhaustive
    public enum ParticipantRole: Int, Sendable {
        /// The role is not known.
        case unknown = 0
        /// The owner of the share.
        case owner = 1
        /// A participant who may manage the share besides its owner.
        @available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
        case administrator = 2
        /// A participant who was invited.
        case privateUser = 3
        /// A participant who joined through the link of a public share.
        case publicUser = 4
    }

    /// The type of a participant, an earlier form of the role.
    @available(*, deprecated, renamed: "ParticipantRole")
    @nonexhaustive
    public enum ParticipantType: Int, Sendable {
        /// The type is not known.
        case unknown = 0
        /// The owner of the share.
        case owner = 1
        /// A participant who was invited.
        case privateUser = 3
        /// A participant who joined through the link of a public share.
        case publicUser = 4

        init(_ role: CKShare.ParticipantRole) {
            self =
                switch role {
                case .unknown: .unknown
                case .owner: .owner
                case .administrator, .privateUser: .privateUser
                case .publicUser: .publicUser
                }
        }
    }
}
