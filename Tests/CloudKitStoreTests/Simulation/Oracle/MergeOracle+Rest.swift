import CloudKit
import GRDB
import Synchronization

/// The checks when everything has been sent and fetched.
extension MergeOracle {
    /// Returns the problems of the devices' rows after everything has been sent and fetched.
    ///
    /// - Parameters:
    ///   - devices: The devices' numbers and files, those of the owner first.
    ///   - records: The service's records, by name.
    /// - Returns: The problems.
    /// - Throws: An error of a file.
    func problems(
        _ devices: [(number: Int, database: DatabaseQueue)],
        _ records: [String: CKRecord]
    ) throws -> [String] {
        let state = self.state.withLock(\.self)
        let (known, isBlind) = (state.records, state.isBlind)
        let stored = try records.compactMapValues { record in
            try table(of: record.recordID.recordName)?.values(of: record)
        }
        var problems: [String] = []
        var written: [String: [String]]?
        for device in devices {
            let (shown, all) = try device.database.read { database in
                (try rows(database), try OracleTable.written(database, tables))
            }
            let isGuest = state.guests.contains(device.number)
            for (name, values) in shown.sorted(by: { $0.key < $1.key }) {
                guard let record = known[name], !isBlind else { continue }
                problems +=
                    record.isOpen
                    ? survivors(name, values, device.number, state)
                    : winners(name, values, device.number, state)
            }
            guard !isGuest else { continue }
            problems += differences(shown, stored, device.number)
            let there = try device.database.read { database in
                try tables.map(\.name).filter { try database.tableExists($0) }
            }
            problems += compare(all, records, Set(there), device.number)
            problems += Self.differences(written ?? all, all, device.number)
            written = written ?? all
            if !isBlind { problems += fates(shown, state) }
        }
        return problems
    }

    /// Checks the values of a row that nobody deleted.
    private func winners(
        _ name: String,
        _ values: [String: OracleValue],
        _ device: Int,
        _ state: State
    ) -> [String] {
        let fields = state.records[name]?.fields ?? [:]
        return fields.sorted { $0.key < $1.key }.compactMap { column, kept in
            var field = kept
            if state.guests.contains(device) { field.mayLose(device) }
            guard let value = values[column], let problem = field.rest(value, on: device) else {
                return nil
            }
            if isFree(column, of: name, state), isCandidate(value, column, of: name, state) {
                return nil
            }
            return "O3: d\(device)'s \(column) of \(name) \(problem)"
        }
    }

    /// Checks the values of a row that an edit saved from its deletion: the newest that any device
    /// has sent.
    private func survivors(
        _ name: String,
        _ values: [String: OracleValue],
        _ device: Int,
        _ state: State
    ) -> [String] {
        guard hasPlainTables, let record = state.records[name], !record.isRemade, !record.isVague,
            !record.deletions.isEmpty
        else { return [] }
        return record.fields.sorted { $0.key < $1.key }.compactMap { column, field in
            guard let newest = field.newest, let value = values[column], value != newest,
                table(of: name)?.hasDistinctValues(column) == true
            else { return nil }
            return "O7: d\(device)'s \(column) of \(name), which stayed, is \(value), and somebody "
                + "sent \(newest) later"
        }
    }

    /// `true` when rows have neither other users nor unique values.
    private var hasPlainTables: Bool { variant.hasPlainRows || variant == .assets }

    /// Checks that rows have the values of the service's records.
    private func differences(
        _ rows: OracleTable.Rows,
        _ records: OracleTable.Rows,
        _ device: Int
    ) -> [String] {
        rows.sorted { $0.key < $1.key }.flatMap { name, values -> [String] in
            guard let record = records[name] else { return [] }
            return values.sorted { $0.key < $1.key }.compactMap { column, value in
                guard let stored = record[column], stored != value else { return nil }
                return "O8: d\(device)'s \(column) of \(name) is \(value), the service's \(stored)"
            }
        }
    }

    // MARK: References

    /// Returns whether something else than edits may have changed a reference: a deletion of a row
    /// that it once led to, or a row that gave way to another with its name.
    func isFree(_ column: String, of record: String, _ state: State) -> Bool {
        guard table(of: record)?.references.contains(where: { $0.column == column }) == true else {
            return false
        }
        return targets(column, of: record, state).contains { target in
            mayVanish(target, state) || !namesakes(of: target, state).isEmpty
        }
    }

    /// Returns whether a reference may have a value: none, a value that it had, or the row that took
    /// the place of that.
    private func isCandidate(
        _ value: OracleValue,
        _ column: String,
        of record: String,
        _ state: State
    ) -> Bool {
        guard case .text(let name) = value else { return true }
        return targets(column, of: record, state).contains { target in
            target == name || namesakes(of: target, state).contains(name)
        }
    }

    /// Returns the records that a reference has ever led to.
    private func targets(_ column: String, of record: String, _ state: State) -> [String] {
        // The key of a mark begins with its note's.
        if record.hasPrefix("mark:") { return ["note:" + record.dropFirst(5).prefix { $0 != "," }] }
        return (state.records[record]?.fields[column]?.values ?? []).compactMap {
            if case .text(let name) = $0 { name } else { nil }
        }
    }

    /// Returns whether a row was deleted, or one that it was ever deleted with.
    private func mayVanish(_ name: String, _ state: State) -> Bool {
        var seen: Set<String> = []
        var next = [name]
        while let name = next.popLast() {
            guard seen.insert(name).inserted else { continue }
            guard let record = state.records[name], !record.isOpen else { return true }
            for reference in table(of: name)?.references ?? [] where reference.cascades {
                next += targets(reference.column, of: name, state)
            }
        }
        return false
    }

    /// Returns the other rows that ever had a row's unique name.
    private func namesakes(of name: String, _ state: State) -> [String] {
        guard variant == .unique, let names = state.records[name]?.fields["name"]?.values else {
            return []
        }
        return state.records.compactMap { other, record in
            guard other != name, table(of: other)?.name == "label",
                let values = record.fields["name"]?.values.subtracting([.none])
            else { return nil }
            return values.isDisjoint(with: names) ? nil : other
        }
    }

    /// Returns whether a row must be gone: whoever deleted it had seen all edits, and no other row
    /// may have kept it.
    private func isDeletedForGood(
        _ name: String,
        _ record: OracleRecord,
        _ table: OracleTable,
        _ state: State
    ) -> Bool {
        guard !record.isVague, record.isDeletedKnowingly(table) else { return false }
        let isFree = table.references.contains { reference in
            self.isFree(reference.column, of: name, state)
        }
        guard !isFree else { return false }
        return !state.records.contains { other, _ in
            self.table(of: other)?.references.contains { reference in
                targets(reference.column, of: other, state).contains(name)
            } ?? false
        }
    }

    /// Checks that rows and records have the same names.
    private func compare(
        _ rows: [String: [String]],
        _ records: [String: CKRecord],
        _ types: Set<String>,
        _ device: Int
    ) -> [String] {
        let found = Set(
            records.values.filter { types.contains($0.recordType) }
                .map(\.recordID.recordName)
        )
        let lost = Set(rows.keys).subtracting(found).sorted().map {
            "O4: the service has no \($0), which d\(device) has"
        }
        return lost
            + found.subtracting(rows.keys).sorted().map {
                "O4: d\(device) has no \($0), which the service has"
            }
    }

    /// Checks that every value has the same written form on all devices that have the column.
    private static func differences(
        _ first: [String: [String]],
        _ other: [String: [String]],
        _ device: Int
    ) -> [String] {
        other.sorted { $0.key < $1.key }.flatMap { name, values -> [String] in
            // The first device's app may not know the table.
            guard let mine = first[name] else { return [] }
            func column(_ text: String) -> Substring { text.prefix { $0 != " " } }
            let theirs = Dictionary(values.map { (column($0), $0) }) { $1 }
            return mine.compactMap { value in
                guard let other = theirs[column(value)], other != value else { return nil }
                return "O5: \(value) of \(name) is \(other) on d\(device)"
            }
        }
    }

    /// Checks that deleted rows exist or not according to the table's rule, if nothing else decides.
    private func fates(_ rows: OracleTable.Rows, _ state: State) -> [String] {
        guard hasPlainTables else { return [] }
        return state.records.sorted { $0.key < $1.key }.compactMap { name, record -> String? in
            guard !record.deletions.isEmpty, !record.isRemade, let table = table(of: name) else {
                return nil
            }
            if rows[name] != nil {
                guard table.deletionWins || isDeletedForGood(name, record, table, state) else {
                    return nil
                }
                return "O6: \(name) is there, which was deleted"
            }
            guard table.name == "note", record.hasUnseenEdit else { return nil }
            return "O6: \(name) is gone, and nobody who deleted it had seen all edits"
        }
    }
}
