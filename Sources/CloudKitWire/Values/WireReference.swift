/// A reference to a record.
public struct WireReference: Hashable, Sendable, Codable {
    /// What happens to the referring record when the target is deleted.
    public enum Action: String, Hashable, Sendable, Codable {
        /// Nothing; the reference dangles.
        case none = "NONE"
        /// The referring record is deleted too.
        case deleteSelf = "DELETE_SELF"
        /// The target must exist and cannot be deleted while it is referenced.
        case validate = "VALIDATE"
    }

    /// The target's name.
    public var recordName: String
    /// The target's zone; nil for the zone of the referring record.
    public var zoneID: WireZoneID?
    /// What happens on deletion of the target; nil counts as `none`.
    public var action: Action?

    /// Makes a reference to a record.
    public init(recordName: String, zoneID: WireZoneID? = nil, action: Action? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }
}
