import CloudKit
import CloudKitWebClient
import Foundation
import GRDB
import Synchronization

/// An oracle that computes the expected values, with a model of merging that is derived from the
/// guide alone.
///
/// It shares no code with the store: it reads rows with its own SQL, and the service's records from
/// requests and through an observer, and it does not use journals. It ignores the store's internal
/// data, such as stamps and forms.
final class MergeOracle: Sendable {
    private struct State {
        var records: [String: OracleRecord] = [:]
        /// The offsets of each device's clock from the service's, in milliseconds, now and at most.
        var clocks: [(now: Int64, peak: Int64)]
        /// The devices that know their offset.
        var rightClocks: Set<Int> = []
        /// The devices whose edits may be refused.
        var guests: Set<Int> = []
        var problems: [String] = []
        /// `true` when nothing can be predicted any longer.
        var isBlind = false
    }

    private let tables: [OracleTable]
    private let variant: SimulationVariant
    private let state: Mutex<State>

    /// The offset below which a device's clock is trusted, although it is not exact.
    private static let tolerance: Int64 = 30_000

    init(_ plan: SimulationPlan) {
        variant = plan.variant
        tables = OracleTable.tables(plan.variant)
        let devices = plan.devices.enumerated()
        state = Mutex(
            State(
                clocks: plan.devices.map { ($0.skew, $0.skew) },
                rightClocks: Set(devices.filter { $0.element.skew == 0 }.map(\.offset)),
                guests: Set(devices.filter { $0.element.user != 0 }.map(\.offset))
            )
        )
    }

    func rows(_ database: Database) throws -> OracleTable.Rows {
        try OracleTable.rows(database, tables)
    }

    /// Returns the problems since the last call.
    func takeProblems() -> [String] {
        state.withLock { state in
            defer { state.problems = [] }
            return state.problems
        }
    }

    // MARK: What devices do

    /// Adds a user's write, from the device's rows before and after it.
    func wrote(
        _ before: OracleTable.Rows,
        _ after: OracleTable.Rows,
        by device: Int,
        at time: Int64
    ) {
        state.withLock { state in
            for (name, values) in after {
                let old = before[name]
                var record = state.records[name] ?? OracleRecord()
                let isKnown = record.tag != nil || !record.writes.isEmpty
                if old == nil, isKnown { record.isRemade = true }
                for (column, value) in values where old?[column] ?? .none != value {
                    record.writes.append((device, column, value))
                    if state.guests.contains(device) { record.fields[column]?.mayLose(device) }
                    let problem = record.edit(
                        column,
                        rule(column, of: name),
                        value,
                        over: old?[column],
                        by: device,
                        at: time,
                        isTimed: state.rightClocks.contains(device)
                    )
                    if let problem, !record.isOpen {
                        state.problems.append("O1: d\(device)'s \(column) of \(name) \(problem)")
                    }
                }
                state.records[name] = record
            }
            for (name, values) in before where after[name] == nil {
                state.records[name, default: OracleRecord()].isOpen = true
                state.records[name]?.deletions.append(values)
            }
        }
    }

    private func rule(_ column: String, of record: String) -> OracleRule {
        let table = tables.first { record.hasPrefix($0.name + ":") }
        return table?.rules.first { $0.column == column }?.rule ?? .later
    }

    /// Sets a device's clock to another time.
    func setClock(of device: Int, by milliseconds: Int64) {
        state.withLock { state in
            state.rightClocks.remove(device)
            state.clocks[device].now += milliseconds
            let clock = state.clocks[device]
            state.clocks[device].peak = max(clock.peak, clock.now)
            for name in state.records.keys {
                for column in state.records[name]?.fields.keys ?? [:].keys {
                    state.records[name]?.fields[column]?.loseTimes(of: device)
                }
            }
        }
    }

    /// Marks a device as having received responses to its saves, from which it knows the service's time.
    ///
    /// A device whose clock was set back can order its edits, but does not know how long ago they were.
    func learnedTime(_ device: Int) {
        state.withLock { state in
            let clock = state.clocks[device]
            guard clock.now == clock.peak, clock.now == 0 || abs(clock.now) > Self.tolerance else {
                return
            }
            state.rightClocks.insert(device)
        }
    }

    /// Marks the zone as deleted, after which everything may reappear.
    func loseZone() { state.withLock { $0.isBlind = true } }

    // MARK: What the service takes

    /// Adds a request and its response, which is nil if none arrived.
    func sent(_ request: TransportRequest, _ response: TransportResponse?, by device: Int) {
        let attempts = OracleAttempt.all(in: request, by: device)
        let versions = response.map(OracleAttempt.versions)
        state.withLock { state in
            for attempt in attempts {
                guard let versions = versions ?? nil else {
                    state.records[attempt.record, default: OracleRecord()].unknown.append(attempt)
                    continue
                }
                guard let tag = versions[attempt.record] else { continue }
                take(attempt, tag, &state)
            }
        }
    }

    private func take(_ attempt: OracleAttempt, _ tag: String, _ state: inout State) {
        // A save without a response happened in between.
        if let between = attempt.tag, let record = state.records[attempt.record],
            between != record.tag,
            let place = record.unknown.firstIndex(where: { $0.tag == record.tag })
        {
            state.records[attempt.record]?.unknown.remove(at: place)
            take(record.unknown[place], between, &state)
        }
        var record = state.records[attempt.record] ?? OracleRecord()
        defer { state.records[attempt.record] = record }
        if attempt.isDeletion {
            record.isOpen = true
            record.isRemade = record.isRemade || record.deletions.isEmpty
        }
        // Between the version that it knew and this one there is another that was not reported.
        if attempt.tag != record.tag { record.isOpen = true }
        record.tag = tag
        for column in ruledColumns(of: attempt.record)
        where record.fields[column] != nil || attempt.says(column) {
            if state.guests.contains(attempt.device) {
                record.fields[column]?.mayLose(attempt.device)
            }
            let problem = record.save(
                attempt,
                column,
                rule(column, of: attempt.record),
                form(column, of: attempt.record)
            )
            if let problem, !record.isOpen {
                state.problems.append(
                    "O2: d\(attempt.device)'s \(column) of \(attempt.record) \(problem)"
                )
            }
        }
        record.forms.merge(attempt.forms) { $1 }
    }

    private func ruledColumns(of record: String) -> [String] {
        tables.first { record.hasPrefix($0.name + ":") }?.rules.map(\.column) ?? []
    }

    private func form(_ column: String, of record: String) -> OracleForm? {
        tables.first { record.hasPrefix($0.name + ":") }?.forms[column]
    }

    /// The records for which it is unknown whether the service accepted a save.
    var uncertain: [String] {
        state.withLock { state in
            state.records.filter { !$0.value.unknown.isEmpty }.keys.sorted()
        }
    }

    /// Adds the service's versions of uncertain records; nil for missing records.
    func resolve(_ tags: [String: String?]) {
        state.withLock { state in
            for (name, tag) in tags.sorted(by: { $0.key < $1.key }) {
                let attempts = state.records[name]?.unknown ?? []
                state.records[name]?.unknown = []
                guard let tag else {
                    if state.records[name]?.tag != nil { state.records[name]?.isOpen = true }
                    continue
                }
                for (place, attempt) in attempts.enumerated() {
                    guard let known = state.records[name], known.tag != tag,
                        attempt.tag == known.tag
                    else { continue }
                    let next = attempts[(place + 1)...].first { $0.tag != known.tag }?.tag ?? tag
                    take(attempt, next, &state)
                }
                if state.records[name]?.tag != tag { state.records[name]?.isOpen = true }
                state.records[name]?.tag = tag
            }
        }
    }

    // MARK: At rest

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
        let (known, guests, isBlind) = state.withLock { ($0.records, $0.guests, $0.isBlind) }
        var problems: [String] = []
        var written: [String: [String]]?
        for device in devices {
            let (shown, all) = try device.database.read { database in
                (try rows(database), try OracleTable.written(database, tables))
            }
            let isGuest = guests.contains(device.number)
            for (name, values) in shown.sorted(by: { $0.key < $1.key }) {
                guard let record = known[name], !record.isOpen, !isBlind else { continue }
                for (column, kept) in record.fields.sorted(by: { $0.key < $1.key }) {
                    var field = kept
                    if isGuest { field.mayLose(device.number) }
                    guard let value = values[column],
                        let problem = field.rest(value, on: device.number)
                    else { continue }
                    problems.append("O3: d\(device.number)'s \(column) of \(name) \(problem)")
                }
            }
            guard !isGuest else { continue }
            let there = try device.database.read { database in
                try tables.map(\.name).filter { try database.tableExists($0) }
            }
            problems += compare(all, records, Set(there), device.number)
            problems += Self.differences(written ?? all, all, device.number)
            written = written ?? all
            if !isBlind { problems += fates(shown, known) }
        }
        return problems
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
    private func fates(_ rows: OracleTable.Rows, _ known: [String: OracleRecord]) -> [String] {
        guard variant.hasPlainRows else { return [] }
        return known.sorted { $0.key < $1.key }.compactMap { name, record -> String? in
            guard !record.deletions.isEmpty, !record.isRemade,
                let table = tables.first(where: { name.hasPrefix($0.name + ":") })
            else { return nil }
            if table.deletionWins {
                return rows[name] == nil ? nil : "O6: \(name) is there, which was deleted"
            }
            guard table.name == "note", rows[name] == nil, record.hasUnseenEdit else { return nil }
            return "O6: \(name) is gone, and nobody who deleted it had seen all edits"
        }
    }
}
