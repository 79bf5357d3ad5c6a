/// When an edit was made: a time that never goes backwards on one device, and the device, which
/// settles ties alike everywhere.
public struct EditTime: Hashable, Comparable, Sendable {
    /// Microseconds since 1970; the last three digits only tell edits of one millisecond apart.
    public var microseconds: Int64
    /// The device's name in this cloud.
    public var device: String

    /// Makes a time.
    public init(microseconds: Int64, device: String) {
        self.microseconds = microseconds
        self.device = device
    }

    /// Earlier first; the device's name settles ties.
    public static func < (one: EditTime, other: EditTime) -> Bool {
        (one.microseconds, one.device) < (other.microseconds, other.device)
    }
}
