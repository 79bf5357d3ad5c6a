/// What a record of the type `cloudkit.share` has besides a record's own parts; it stands beside
/// them on the wire.
public struct WireShare: Hashable, Sendable, Codable {
    /// The record that is shared, as a request names it.
    public struct Root: Hashable, Sendable, Codable {
        /// The record's name.
        public var recordName: String
        /// The version that the client knows; nil for a record of the same request.
        public var recordChangeTag: String?

        /// Makes a root.
        public init(recordName: String, recordChangeTag: String? = nil) {
            self.recordName = recordName
            self.recordChangeTag = recordChangeTag
        }
    }

    /// The record that is shared; nil for a share of a whole zone.
    public var forRecord: Root?
    /// What everyone with the link may do.
    public var publicPermission: WireParticipant.Permission?
    /// Who takes part.
    public var participants: [WireParticipant]?
    /// Who shares; in answers.
    public var owner: WireParticipant?
    /// The caller; in answers.
    public var currentUserParticipant: WireParticipant?

    /// Makes the parts of a share.
    public init(
        forRecord: Root? = nil,
        publicPermission: WireParticipant.Permission? = nil,
        participants: [WireParticipant]? = nil,
        owner: WireParticipant? = nil,
        currentUserParticipant: WireParticipant? = nil
    ) {
        self.forRecord = forRecord
        self.publicPermission = publicPermission
        self.participants = participants
        self.owner = owner
        self.currentUserParticipant = currentUserParticipant
    }

    /// Whether nothing is said: the record is no share.
    var isEmpty: Bool {
        forRecord == nil && publicPermission == nil && participants == nil && owner == nil
            && currentUserParticipant == nil
    }
}
