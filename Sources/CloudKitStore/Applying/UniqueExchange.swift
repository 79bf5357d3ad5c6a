import Foundation
import GRDB

/// The writing of rows that take UNIQUE values from each other.
///
/// SQLite compares every row as it is written, so rows that exchange values cannot be written in any order. Their values
/// give way to temporary ones first, and then all rows get their own.
struct UniqueExchange: ApplyPhase {
    let context: ApplyContext

    /// A written row, with the kind of its change; nil when nothing differed.
    typealias Written = (candidate: Candidate, kind: RowChange.Kind?)

    /// Writes as many of some rows of one table as can have their values at the same time.
    ///
    /// - Parameter candidates: The rows, each of which has a value that another row had when it was tried alone.
    /// - Returns: The written rows.
    /// - Throws: An error of the database.
    func write(_ candidates: [Candidate]) throws -> [Written] {
        var written: [Written] = []
        var rest = candidates
        while !rest.isEmpty {
            // A row that failed beside another may be possible now that the other has failed too.
            let round = try exchange(rest)
            guard !round.isEmpty else { break }
            written += round
            let names = Set(round.map(\.candidate.known.name))
            rest.removeAll { names.contains($0.known.name) }
        }
        return written
    }

    private func exchange(_ candidates: [Candidate]) throws -> [Written] {
        let holders = try holders(of: candidates)
        var members = Self.unblocked(candidates, holders)
        while !members.isEmpty {
            // If a row refuses temporary values, such as by a trigger, NULL may do.
            for usesNull in [false, true] {
                let (written, refused) = try write(members, usesNull: usesNull)
                if refused.isEmpty { return written }
                guard usesNull || !written.isEmpty else { continue }
                members = Self.unblocked(
                    members.filter { !refused.contains($0.key) },
                    holders
                )
                break
            }
        }
        return []
    }

    /// Returns the rows that have the values of each candidate.
    private func holders(of candidates: [Candidate]) throws -> [RowKey: [RowKey]] {
        guard let table = candidates.first?.table else { return [:] }
        let judge = UniquenessJudge(context: context)
        let rules = try rows.uniqueColumns(table)
        var holders: [RowKey: [RowKey]] = [:]
        for candidate in candidates {
            holders[candidate.key] = try judge.rivals(of: candidate, rules).map(\.key)
        }
        return holders
    }

    /// Returns the candidates without those that wait, directly or by way of others, for a row that is none of them.
    private static func unblocked(
        _ candidates: [Candidate],
        _ holders: [RowKey: [RowKey]]
    ) -> [Candidate] {
        let keys = Set(candidates.map(\.key))
        var waiting: [RowKey: [RowKey]] = [:]
        var next: [RowKey] = []
        for candidate in candidates {
            for holder in holders[candidate.key] ?? [] {
                if keys.contains(holder) {
                    waiting[holder, default: []].append(candidate.key)
                } else {
                    next.append(candidate.key)
                }
            }
        }
        var blocked: Set<RowKey> = []
        while let key = next.popLast() {
            guard blocked.insert(key).inserted else { continue }
            next += waiting[key] ?? []
        }
        return candidates.filter { !blocked.contains($0.key) }
    }

    /// Writes all of some rows, or none.
    ///
    /// - Returns: The rows that could be written, and those that could not. Without any written ones, these refuse
    ///   temporary values.
    private func write(
        _ members: [Candidate],
        usesNull: Bool
    ) throws -> (written: [Written], refused: Set<RowKey>) {
        var written: [Written] = []
        var refused: Set<RowKey> = []
        let unique = try members.first.map { try rows.uniqueNames($0.table) } ?? []
        try database.inSavepoint {
            // Temporary values are in no row that a reader sees, so rules about them do not matter.
            try database.with("ignore_check_constraints", atLeast: 1) {
                for member in members where try !vacate(member, unique, usesNull: usesNull) {
                    refused.insert(member.key)
                }
            }
            guard refused.isEmpty else { return .rollback }
            for member in members {
                do {
                    written.append((member, try rows.write(member)))
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                    refused.insert(member.key)
                } catch is UnmappableValue {
                    refused.insert(member.key)
                }
            }
            return refused.isEmpty ? .commit : .rollback
        }
        return (written, refused)
    }

    // MARK: Temporary values

    /// Replaces a row's UNIQUE values that are about to change; returns whether the row allows that.
    private func vacate(
        _ member: Candidate,
        _ unique: Set<String>,
        usesNull: Bool
    ) throws -> Bool {
        guard let existing = member.existing else { return true }
        let table = member.table
        var names: [String] = []
        var values: [DatabaseValue] = []
        for column in table.columns where !column.isKey && unique.contains(column.name) {
            guard let field = member.fields[column.field],
                try !rows.keeps(field, column, of: existing)
            else { continue }
            names.append("\(column.name.quoted) = ?")
            values.append(usesNull && !column.isNotNull ? .null : temporary(column))
        }
        guard !names.isEmpty else { return true }
        let statement = try database.cachedStatement(
            sql: "UPDATE \(table.name.quoted) SET \(names.joined(separator: ", ")) "
                + "WHERE \(table.sql.condition)"
        )
        do {
            try statement.execute(
                arguments: StatementArguments(values: values + (member.key.values(table) ?? []))
            )
            return true
        } catch let error as DatabaseError
            where [.SQLITE_CONSTRAINT, .SQLITE_ERROR, .SQLITE_MISMATCH].contains(error.resultCode)
        {
            return false
        }
    }

    /// Returns a value that no row has, of the column's kind: a strict table takes no other.
    private func temporary(_ column: TableColumn) -> DatabaseValue {
        context.temporaryValues += 1
        let text = "grdb_cloudkit_temporary_\(context.temporaryValues)"
        return switch column.affinity {
        case .text: text.databaseValue
        // A floating-point column holds these whole numbers, too.
        case .integer, .numeric, .real: (context.temporaryValues - 1 << 53).databaseValue
        case .none: Data(text.utf8).databaseValue
        }
    }
}

extension RowStore {
    /// Writes a candidate's row, and returns the kind of change; nil when nothing differed.
    func write(_ candidate: Candidate) throws -> RowChange.Kind? {
        if let insertion = candidate.insertion {
            try insert(insertion, candidate.table)
            return .inserted
        }
        return try write(
            candidate.fields,
            candidate.key,
            candidate.table,
            over: candidate.existing,
            files: candidate.files
        )
    }
}
