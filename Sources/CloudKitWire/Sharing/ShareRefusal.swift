/// Why a share is refused, which the service's codes do not tell: each is how the reason of a
/// `BAD_REQUEST` begins.
///
/// Apple's service has codes of its own for these in the native API; what its web services answer
/// is not documented.
package enum ShareRefusal: String, CaseIterable {
    /// The record is the root of another share.
    case alreadyShared = "Record is already shared"
    /// The share has more participants than the service allows.
    case tooManyParticipants = "Too many participants"
    /// The zone of the record is shared as a whole.
    case zoneIsShared = "Zone is already shared"
}
