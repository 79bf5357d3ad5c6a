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
