/// A field that two devices edited independently.
public struct FieldConflict: Hashable, Sendable {
    /// The field's name.
    public var field: String
    /// The value that both edits started from.
    public var base: StoreValue
    /// This device's value.
    public var local: StoreValue
    /// The time of this device's edit.
    public var localTime: EditTime
    /// The server's value.
    public var remote: StoreValue
    /// The time of the server's edit.
    public var remoteTime: EditTime

    /// Creates a conflict, to test a rule.
    public init(
        field: String,
        base: StoreValue,
        local: StoreValue,
        localTime: EditTime,
        remote: StoreValue,
        remoteTime: EditTime
    ) {
        self.field = field
        self.base = base
        self.local = local
        self.localTime = localTime
        self.remote = remote
        self.remoteTime = remoteTime
    }
}

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
