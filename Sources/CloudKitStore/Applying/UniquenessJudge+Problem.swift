import GRDB

/// The explanations of records that wait because another row has their UNIQUE values.
extension UniquenessJudge {
    /// A row with UNIQUE values of another, with the columns of the rule that both would break.
    typealias Rival = (key: RowKey, row: StoredRow, columns: [TableColumn])

    /// Returns which row has a record's UNIQUE values, whose it is, and the remedy; nil when no row has them as a whole.
    func problem(of candidate: Candidate) throws -> String? {
        let found = try rivals(of: candidate).map { (rival: $0, zone: try zone(of: $0.key)) }
        let known = candidate.known
        // Another user's row is the one that lasts: those of the same user are decided between.
        guard let first = found.first(where: { $0.zone.owner != known.zone.owner }) ?? found.first
        else { return nil }
        return problem(
            of: known,
            candidate.table,
            having: first.rival.columns,
            of: first.rival.key,
            in: first.zone
        )
    }

    /// Returns why a record waits that has a row's UNIQUE values in some columns, and the remedy.
    ///
    /// - Parameters:
    ///   - known: The record.
    ///   - table: The table of both.
    ///   - columns: The columns.
    ///   - key: The key of the row.
    ///   - holder: The row's zone.
    /// - Returns: A sentence without its full stop.
    func problem(
        of known: KnownRecord,
        _ table: TableSchema,
        having columns: [TableColumn],
        of key: RowKey,
        in holder: StoreZone
    ) -> String {
        let names = columns.map { "'\($0.name)'" }.joined(separator: ", ")
        let value = "the UNIQUE value of \(names) in the table '\(table.name)'"
        switch (known.zone, holder) {
        case (.shared(let owner, _), .shared(let other, _)) where owner != other:
            return
                "The record '\(known.recordName)' that the user '\(owner)' shares waits: the row "
                + "'\(key.text)' that the user '\(other)' shares has \(value); ask one of the two for "
                + "another value, or leave what one shares"
        case (.shared(let owner, _), .own), (.shared(let owner, _), .owned):
            return
                "The record '\(known.recordName)' that the user '\(owner)' shares waits: your own row "
                + "'\(key.text)' has \(value); give your own row another value, or delete it, or ask "
                + "that user for another one"
        case (.own, .shared(let other, _)), (.owned, .shared(let other, _)):
            return
                "Your own record '\(known.recordName)' waits: the row '\(key.text)' that the user "
                + "'\(other)' shares has \(value), and edits to be sent; sync, or give one of the two "
                + "another value"
        default:
            return
                "The record '\(known.recordName)' violates a UNIQUE rule: the row '\(key.text)' has \(value); "
                + "give one of the two another value, or delete it"
        }
    }
}
