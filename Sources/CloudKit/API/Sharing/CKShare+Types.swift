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
        case administrator = 2
        /// Who was invited.
        case privateUser = 3
        /// Who came through the link of a public share.
        case publicUser = 4
    }

    /// What a participant is to the share.
    @available(*, deprecated, renamed: "ParticipantRole")
    public typealias ParticipantType = ParticipantRole
}
