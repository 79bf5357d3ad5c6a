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
    struct State {
        var records: [String: OracleRecord] = [:]
        /// The contents of uploaded files, by checksum.
        var files: [String: OracleValue] = [:]
        /// The offsets of each device's clock from the service's, in milliseconds, now and at most.
        var clocks: [(now: Int64, peak: Int64)]
        /// The devices that know their offset.
        var rightClocks: Set<Int> = []
        /// The devices whose edits may be refused.
        var guests: Set<Int> = []
        /// The values that are problems unless other rows explain them.
        var suspicions: [(record: String, column: String, problem: String)] = []
        /// `true` when nothing can be predicted any longer.
        var isBlind = false

        mutating func suspect(
            _ column: String,
            of record: String,
            _ source: String,
            _ problem: String
        ) {
            suspicions.append((record, column, "\(source) \(column) of \(record) \(problem)"))
        }
    }

    let tables: [OracleTable]
    let variant: SimulationVariant
    let state: Mutex<State>

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
            defer { state.suspicions = [] }
            return state.suspicions
                .filter { !isFree($0.column, of: $0.record, state) }.map(\.problem)
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
                    record.writes.append(
                        OracleWrite(
                            device: device,
                            column: column,
                            old: old?[column] ?? .none,
                            value: value
                        )
                    )
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
                        state.suspect(column, of: name, "O1: d\(device)'s", problem)
                    }
                }
                state.records[name] = record
            }
            for (name, values) in before where after[name] == nil {
                var record = state.records[name] ?? OracleRecord()
                record.isOpen = true
                record.deletions.append(
                    OracleDeletion(device: device, row: values, writes: record.writes.count)
                )
                state.records[name] = record
            }
        }
    }

    /// Returns the table of a record.
    func table(of record: String) -> OracleTable? {
        tables.first { record.hasPrefix($0.name + ":") }
    }

    private func rule(_ column: String, of record: String) -> OracleRule {
        table(of: record)?.rule(of: column) ?? .later
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

    /// Adds an uploaded file, with the response.
    func uploaded(_ file: URL, _ response: TransportResponse) {
        guard let checksum = OracleAttempt.checksum(in: response),
            // A process that ended may have removed its file.
            let data = try? Data(contentsOf: file)
        else { return }
        state.withLock { $0.files[checksum] = .file(data) }
    }

    /// Adds a request and its response, which is nil if none arrived.
    func sent(_ request: TransportRequest, _ response: TransportResponse?, by device: Int) {
        let versions = response.map(OracleAttempt.versions)
        state.withLock { state in
            let attempts = OracleAttempt.all(in: request, by: device, state.files)
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
        if attempt.tag != record.tag {
            record.isOpen = true
            record.isVague = record.isVague || !attempt.isDeletion
        }
        record.tag = attempt.isDeletion ? nil : tag
        guard !attempt.isDeletion else { return }
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
                state.suspect(column, of: attempt.record, "O2: d\(attempt.device)'s", problem)
            }
        }
        record.forms.merge(attempt.forms) { $1 }
    }

    private func ruledColumns(of record: String) -> [String] {
        table(of: record)?.rules.map(\.column) ?? []
    }

    private func form(_ column: String, of record: String) -> OracleForm? {
        table(of: record)?.forms[column]
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
                    if state.records[name]?.tag != nil {
                        state.records[name]?.vanish(attempts.contains(where: \.isDeletion))
                    }
                    continue
                }
                for (place, attempt) in attempts.enumerated() {
                    guard let known = state.records[name], known.tag != tag,
                        attempt.tag == known.tag
                    else { continue }
                    let next = attempts[(place + 1)...].first { $0.tag != known.tag }?.tag ?? tag
                    take(attempt, next, &state)
                }
                if state.records[name]?.tag != tag {
                    state.records[name]?.isOpen = true
                    state.records[name]?.isVague = true
                }
                state.records[name]?.tag = tag
            }
        }
    }
}
