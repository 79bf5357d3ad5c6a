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
    /// The rows at their deletion, by the deleting users.
    var deletions: [[String: OracleValue]] = []
    /// `true` when the row was created again, or could have been.
    var isRemade = false
    /// The edits of single fields with their authors, newest last.
    var writes: [(device: Int, column: String, value: OracleValue)] = []
}

extension OracleRecord {
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
            .save(value(of: column, form, in: attempt), by: attempt.device)
    }

    private func value(
        of column: String,
        _ form: OracleForm?,
        in attempt: OracleAttempt
    ) -> OracleValue? {
        guard let form else { return attempt.fields[column] }
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
            return deletions.allSatisfy { row in
                row[write.column].map { $0 != write.value } ?? false
            }
        }
    }
}
