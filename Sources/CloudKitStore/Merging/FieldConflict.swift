/// A field that two devices edited, each without knowing of the other.
public struct FieldConflict: Hashable, Sendable {
    /// The field's name.
    public var field: String
    /// The value that both edits started from.
    public var base: StoreValue
    /// This device's value.
    public var local: StoreValue
    /// When this device's edit was made.
    public var localTime: EditTime
    /// The server's value.
    public var remote: StoreValue
    /// When the server's edit was made.
    public var remoteTime: EditTime

    /// Makes a conflict, to try a rule on.
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
