/// The rule that decides between two edits of the same field; edits of different fields never conflict.
///
/// ```swift
/// // The later edit wins, but a draft never overrules a text, and visits of two devices add up.
/// let rules: [String: MergeRule] = [
///     "title": .laterEdit,
///     "visits": .counter,
///     "text": .custom { $0.local.isNull ? $0.remote : $0.local },
/// ]
/// ```
public enum MergeRule: Sendable {
    /// A closure that decides from the base, and from the two values with the times of their edits.
    public typealias Decision = @Sendable (_ conflict: FieldConflict) -> StoreValue

    /// The later edit wins, by a clock that follows the server's.
    case laterEdit
    /// The edit that reached the server first wins.
    case server
    /// This device's edit wins.
    case client
    /// The smaller value wins.
    case minimum
    /// The greater value wins.
    case maximum
    /// A number to which both sides add: the differences of both count.
    case counter
    /// An unordered list without duplicates: elements that either side added are in, and elements
    /// that either side removed are out.
    case set
    /// The app's closure decides. It must return the same value for the same conflict.
    case custom(Decision)

    /// The rule's name in the journal.
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

/// The treatment of a row that one device deleted while another edited it.
public enum DeletionRule: String, Hashable, Sendable {
    /// The row stays, with the edit.
    case editWins
    /// The row is deleted; the edit is kept in the journal.
    case deletionWins
}
