/// A record in the service and on the devices.
struct OracleRecord {
    var tag: String?
    var fields: [String: OracleField] = [:]
    /// The written forms of the service's values, as in ``OracleAttempt/forms``.
    var forms: [String: [String: String]] = [:]
    /// The saves without a response.
    var unknown: [OracleAttempt] = []
    /// `true` when the row or its record was deleted, so that fields start again.
    var isOpen = false
    /// `true` when the service has a version that nobody saw being made.
    var isVague = false
    /// The deletions by users.
    var deletions: [OracleDeletion] = []
    /// `true` when the row was created again, or could have been.
    var isRemade = false
    /// The edits of single fields, newest last.
    var writes: [OracleWrite] = []
}

/// An edit of a field by a device's user.
struct OracleWrite {
    var device: Int
    var column: String
    /// The value that its user saw; none in a new row.
    var old: OracleValue
    var value: OracleValue
}

/// A deletion by a device's user.
struct OracleDeletion {
    var device: Int
    /// The row that its user saw.
    var row: [String: OracleValue]
    /// The number of edits that anybody had made before.
    var writes: Int
}

extension OracleRecord {
    /// Notes that the service has no record any longer.
    mutating func vanish(_ wasDeleted: Bool) {
        isOpen = true
        isVague = isVague || !wasDeleted
        isRemade = isRemade || deletions.isEmpty
        tag = nil
    }

    mutating func edit(
        _ column: String,
        _ rule: OracleRule,
        _ value: OracleValue,
        over old: OracleValue?,
        by device: Int,
        at time: Int64,
        isTimed: Bool
    ) -> String? {
        fields[column, default: OracleField(rule)]
            .write(value, over: old, by: device, at: time, isTimed: isTimed)
    }

    mutating func save(
        _ attempt: OracleAttempt,
        _ column: String,
        _ rule: OracleRule,
        _ form: OracleForm?
    ) -> String? {
        guard attempt.isStamped else {
            fields[column]?.pass()
            return nil
        }
        return fields[column, default: OracleField(rule)]
            .save(value(of: column, rule, form, in: attempt), by: attempt.device)
    }

    private func value(
        of column: String,
        _ rule: OracleRule,
        _ form: OracleForm?,
        in attempt: OracleAttempt
    ) -> OracleValue? {
        // A new record has no value where it says none, also where a deleted one had a value.
        if attempt.tag == nil, !attempt.says(column) { return OracleValue.none }
        guard let form else { return attempt.fields[column].map(rule.compared) }
        let forms = attempt.forms[form.formsField] ?? forms[form.formsField]
        return form.value(attempt.fields[column], form: forms?[column])
    }

    /// `true` when a value was written that no deleting user had seen.
    var hasUnseenEdit: Bool {
        writes.indices.contains { place in
            let write = writes[place]
            let isLast = !writes[(place + 1)...].contains { $0.column == write.column }
            guard isLast, write.value != .none, fields[write.column]?.lastEditWins == true else {
                return false
            }
            return deletions.allSatisfy { deletion in
                deletion.row[write.column].map { $0 != write.value } ?? false
            }
        }
    }

    /// Returns whether a user deleted the row who had seen all that anybody ever wrote into it.
    ///
    /// It is `false` where that cannot be known, because of several edits with one value.
    ///
    func isDeletedKnowingly(_ table: OracleTable) -> Bool {
        deletions.contains { deletion in
            deletion.writes == writes.count
                && writes.allSatisfy { isSeen($0, table, by: deletion) }
        }
    }

    private func isSeen(
        _ write: OracleWrite,
        _ table: OracleTable,
        by deletion: OracleDeletion
    ) -> Bool {
        // Columns of any values are always written together with another one.
        if write.device == deletion.device || table.forms[write.column] != nil { return true }
        let equal = writes.count { $0.column == write.column && $0.value == write.value }
        guard table.hasDistinctValues(write.column), write.value != .none, equal == 1 else {
            return false
        }
        // Seen by the user who deleted, or by one who overwrote it.
        return deletion.row[write.column] == write.value
            || writes.contains { $0.column == write.column && $0.old == write.value }
    }
}
