import CloudKit
import CloudKitWebClient
import Foundation
import GRDB
import Synchronization

/// Says which value must be where, by a model of merging that is made from the guide alone.
///
/// It shares no code with the store: it reads rows by SQL of its own, and the service's records from
/// requests and by an observer, and it believes no journal. Everything that is private to the store,
/// such as stamps and forms, it passes over.
final class MergeOracle: Sendable {
    private struct State {
        var records: [String: OracleRecord] = [:]
        /// By how many milliseconds each device's clock is ahead of the service's, now and at most.
        var clocks: [(now: Int64, peak: Int64)]
        /// The devices that know by how much.
        var rightClocks: Set<Int> = []
        /// The devices whose edits may be refused.
        var guests: Set<Int> = []
        var problems: [String] = []
        /// Whether nothing can be told any more.
        var isBlind = false
    }

    private let tables: [OracleTable]
    private let variant: SimulationVariant
    private let state: Mutex<State>

    /// Below this, a device's clock is good enough to be believed, and not exact.
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

    /// What was wrong since it was asked last.
    func takeProblems() -> [String] {
        state.withLock { state in
            defer { state.problems = [] }
            return state.problems
        }
    }

    // MARK: What devices do

    /// Takes in a user's write, from what the device showed before and after it.
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

    /// A device's clock was set to another time.
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

    /// A device has had responses to what it saved, from which it knows the service's time.
    ///
    /// One whose clock was set back tells its edits apart, but not how long ago they were.
    func learnedTime(_ device: Int) {
        state.withLock { state in
            let clock = state.clocks[device]
            guard clock.now == clock.peak, clock.now == 0 || abs(clock.now) > Self.tolerance else {
                return
            }
            state.rightClocks.insert(device)
        }
    }

    /// The zone is gone, and everything may come again.
    func loseZone() { state.withLock { $0.isBlind = true } }

    // MARK: What the service takes

    /// Takes in a request and its response; nil where none came.
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
        // One that nobody answered came between.
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
        // Between the version that it knew and this one there is another that nobody told of.
        if attempt.tag != record.tag { record.isOpen = true }
        record.tag = tag
        for column in Set(record.fields.keys).union(attempt.fields.keys).sorted()
        where isRuled(column, of: attempt.record) {
            if state.guests.contains(attempt.device) {
                record.fields[column]?.mayLose(attempt.device)
            }
            let problem = record.save(
                attempt,
                column,
                rule(column, of: attempt.record)
            )
            if let problem, !record.isOpen {
                state.problems.append(
                    "O2: d\(attempt.device)'s \(column) of \(attempt.record) \(problem)"
                )
            }
        }
    }

    private func isRuled(_ column: String, of record: String) -> Bool {
        tables.contains { table in
            record.hasPrefix(table.name + ":") && table.rules.contains { $0.column == column }
        }
    }

    /// The records of which it is not known whether the service took something.
    var uncertain: [String] {
        state.withLock { state in
            state.records.filter { !$0.value.unknown.isEmpty }.keys.sorted()
        }
    }

    /// Takes in the versions that the service has of uncertain records; nil for those that it has not.
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

    /// What is wrong with what devices hold when all has been sent and fetched.
    ///
    /// - Parameters:
    ///   - devices: The devices' numbers and files, those of the owner first.
    ///   - records: What the service has, by name.
    /// - Returns: What is wrong.
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

    /// Rows and records are of the same names.
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

    /// Every value is written alike on all devices, as far as they have the column.
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

    /// Deleted rows are there, or gone, as the table's rule says, where nothing else decides.
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
