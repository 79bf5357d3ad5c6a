/// What comes of two versions of a row and the one that both started from.
package struct MergePlan: Hashable {
    /// What the server is to be told.
    package enum Sending: Hashable {
        case nothing
        /// The fields that differ from the server's.
        case save(Set<String>)
        case deletion
    }

    /// A value that a rule overruled.
    package struct Overruled: Hashable {
        package enum Side: String {
            case local
            case remote
        }

        /// The fields that lost, with their values; for a deletion that lost, none.
        package var fields: [String: StoreValue]
        /// Whose they were.
        package var side: Side
        /// The rule that decided.
        package var rule: String

        /// Whether there is nothing to bring back: the row is there, with all edits.
        var isNothing: Bool {
            fields.isEmpty && [DeletionRule.editWins.rawValue, "reference"].contains(rule)
        }
    }

    /// The row as it is to be; nil when there is to be none.
    package var row: [String: StoreValue]?
    package var sending: Sending
    package var overruled: [Overruled] = []
}
