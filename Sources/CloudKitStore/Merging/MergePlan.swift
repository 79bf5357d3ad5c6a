/// The result of a merge of two versions of a row with their common base.
package struct MergePlan: Hashable {
    /// The change to send to the server.
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
        /// The side that they came from.
        package var side: Side
        /// The rule that decided.
        package var rule: String

        /// `true` when there is nothing to restore: the row exists, with all edits.
        var isNothing: Bool {
            fields.isEmpty && [DeletionRule.editWins.rawValue, "reference"].contains(rule)
        }
    }

    /// The merged row; nil when there is none.
    package var row: [String: StoreValue]?
    package var sending: Sending
    package var overruled: [Overruled] = []
}
