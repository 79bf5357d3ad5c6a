/// The result of a merge of two versions of a row with their common base.
package struct MergePlan: Hashable {
    /// The change to send to the server.
    package enum Sending: Hashable {
        case nothing
        /// The fields that differ from the server's, in their values or in the times of their edits.
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
    /// The times of the edits to send that this plan brings back, by field.
    package private(set) var restored: [String: EditTime] = [:]

    package init(row: [String: StoreValue]?, sending: Sending, overruled: [Overruled] = []) {
        self.row = row
        self.sending = sending
        self.overruled = overruled
    }

    /// Adds the edits that the server lost to a row that stays.
    mutating func restore(_ lost: LostEdits) {
        guard row != nil, sending != .deletion else { return }
        for (field, edit) in lost.restored {
            row?[field] = edit.value
            restored[field] = edit.time
        }
        overruled += lost.overruled
        guard !restored.isEmpty else { return }
        if case .save(let fields) = sending {
            sending = .save(fields.union(restored.keys))
        } else {
            sending = .save(Set(restored.keys))
        }
    }
}

/// One side's version of a row.
package struct MergeVersion: Hashable {
    /// The values; a missing field has no value.
    package var fields: [String: StoreValue]
    /// The times at which fields were edited since the base, as far as known.
    package var times: [String: EditTime] = [:]
    /// The fields that were overwritten since the base, even if they have its values again.
    package var overwritten: Set<String> = []
    /// The fields whose values are older than every edit: rows that were there before the first sync.
    package var unedited: Set<String> = []

    package init(
        fields: [String: StoreValue],
        times: [String: EditTime] = [:],
        overwritten: Set<String> = [],
        unedited: Set<String> = []
    ) {
        self.fields = fields
        self.times = times
        self.overwritten = overwritten
        self.unedited = unedited
    }

    func value(_ field: String) -> StoreValue { fields[field] ?? .null }

    /// Returns whether a field was edited since the base.
    func hasEdited(_ field: String, since base: StoreValue) -> Bool {
        value(field) != base || overwritten.contains(field)
    }
}
