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
