/// What decides between two edits of the same field; edits of different fields never meet.
public enum MergeRule: Sendable {
    /// Decides with the version that both edits started from, and the two values with the times of
    /// their edits.
    public typealias Decision = @Sendable (_ conflict: FieldConflict) -> StoreValue

    /// The edit that was made later, by a clock that follows the server's.
    case laterEdit
    /// The edit that reached the server first.
    case server
    /// This device's edit.
    case client
    /// The smaller value.
    case minimum
    /// The greater value.
    case maximum
    /// A number to which both add: the differences of both count.
    case counter
    /// A list without order or repetition: what either added is in, what either removed is out.
    case set
    /// A closure of the app. It must answer alike when it is asked again.
    case custom(Decision)

    /// The rule's name, as the journal keeps it.
    public var name: String {
        switch self {
        case .laterEdit: "laterEdit"
        case .server: "server"
        case .client: "client"
        case .minimum: "minimum"
        case .maximum: "maximum"
        case .counter: "counter"
        case .set: "set"
        case .custom: "custom"
        }
    }
}
