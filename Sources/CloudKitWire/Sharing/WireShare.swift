/// The members that a record of the type `cloudkit.share` has in addition to a record's own; on the
/// wire they are part of the record.
public struct WireShare: Hashable, Sendable, Codable {
    /// The shared record in a request.
    public struct Root: Hashable, Sendable, Codable {
        /// The record's name.
        public var recordName: String
        /// The client's version of the record; nil for a record of the same request.
        public var recordChangeTag: String?

        /// Creates a root.
        public init(recordName: String, recordChangeTag: String? = nil) {
            self.recordName = recordName
            self.recordChangeTag = recordChangeTag
        }
    }

    /// The shared record; nil for a share of a whole zone.
    public var forRecord: Root?
    /// The access that everyone with the link has.
    public var publicPermission: WireParticipant.Permission?
    /// The participants of the share.
    public var participants: [WireParticipant]?
    /// The owner of the share; in responses.
    public var owner: WireParticipant?
    /// The caller as a participant; in responses.
    public var currentUserParticipant: WireParticipant?

    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey, CaseIterable {
        case forRecord, publicPermission, participants, owner, currentUserParticipant
    }

    /// Creates the parts of a share.
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

    /// `true` when no member is set: the record is not a share.
    var isEmpty: Bool {
        forRecord == nil && publicPermission == nil && participants == nil && owner == nil
            && currentUserParticipant == nil
    }
}

/// The reasons for refusing a share, which the service's codes do not distinguish: each is the
/// beginning of the reason of a `BAD_REQUEST`.
///
/// In the native API Apple's service has codes of its own for these; the responses of its web
/// services are not documented.
package enum ShareRefusal: String, CaseIterable {
    /// The record is the root of another share.
    case alreadyShared = "Record is already shared"
    /// The share has more participants than the service allows.
    case tooManyParticipants = "Too many participants"
    /// The zone of the record is shared as a whole.
    case zoneIsShared = "Zone is already shared"
}
