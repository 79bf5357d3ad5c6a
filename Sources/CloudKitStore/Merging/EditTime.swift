/// The time of an edit: a time that never goes backwards on one device, and the device, which
/// breaks ties the same way everywhere.
public struct EditTime: Hashable, Comparable, Sendable {
    /// Microseconds since 1970; the last three digits only distinguish edits of the same millisecond.
    public var microseconds: Int64
    /// The device's name in this cloud.
    public var device: String

    /// Creates a time from its parts.
    public init(microseconds: Int64, device: String) {
        self.microseconds = microseconds
        self.device = device
    }

    /// Returns whether the first time is earlier; equal times are ordered by the device's name.
    public static func < (one: EditTime, other: EditTime) -> Bool {
        (one.microseconds, one.device) < (other.microseconds, other.device)
    }
}
