extension CKShare {
    /// Whether a participant has come.
    @nonexhaustive
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Invited, and not come yet.
        case pending
        /// Has accepted.
        case accepted
        /// Has left or was removed.
        case removed
    }

    /// What a participant may do.
    @nonexhaustive
    public enum ParticipantPermission: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Nothing.
        case none
        /// See.
        case readOnly
        /// See and change.
        case readWrite
    }

    /// What a participant is to the share.
    @nonexhaustive
    public enum ParticipantRole: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Who shares.
        case owner = 1
        /// Who may manage the share besides its owner.
        @available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
        case administrator = 2
        /// Who was invited.
        case privateUser = 3
        /// Who came through the link of a public share.
        case publicUser = 4
    }

    /// What a participant is to the share, as it was asked before there were roles.
    @available(*, deprecated, renamed: "ParticipantRole")
    @nonexhaustive
    public enum ParticipantType: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Who shares.
        case owner = 1
        /// Who was invited.
        case privateUser = 3
        /// Who came through the link of a public share.
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
