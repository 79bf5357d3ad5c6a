/// A record, as the service and the devices have it.
struct OracleRecord {
    var tag: String?
    var fields: [String: OracleField] = [:]
    /// What was asked and not answered.
    var unknown: [OracleAttempt] = []
    /// Whether somebody deleted the row or its record, so that fields begin anew.
    var isOpen = false
    /// The rows as they were deleted, by the users who did it.
    var deletions: [[String: OracleValue]] = []
    /// Whether the row was made again, or could have been.
    var isRemade = false
    /// Who wrote what, of single fields, newest last.
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
        _ rule: OracleRule
    ) -> String? {
        guard attempt.isStamped else {
            fields[column]?.pass()
            return nil
        }
        return fields[column, default: OracleField(rule)]
            .save(attempt.fields[column], by: attempt.device)
    }

    /// Whether somebody wrote a value that nobody saw who deleted the row.
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
