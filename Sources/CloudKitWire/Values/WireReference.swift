/// A reference to a record.
public struct WireReference: Hashable, Sendable, Codable {
    /// The effects that deleting the target can have on the referring record.
    public enum Action: String, Hashable, Sendable, Codable {
        /// No effect; the reference then refers to no record.
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
    /// The effect of the target's deletion; nil means `none`.
    public var action: Action?

    /// Creates a reference to a record.
    public init(recordName: String, zoneID: WireZoneID? = nil, action: Action? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }
}
