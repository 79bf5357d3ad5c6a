import CloudKit
import Foundation
import GRDB
import Synchronization

/// One transaction after the other takes what a fetch brought, while the engine fetches the next page.
///
/// The transaction with the last of what one state of the engine says was fetched takes that state
/// with it, so that the file never says of a record that it has come when it has not.
extension StoreDelegate {
    /// Takes records; they are written when there are enough of them, or when anything else happens.
    func arrived(_ records: [CKRecord], _ zone: String) async throws {
        if state.withLock({ $0.arrivals.zone != zone }) { try await writeArrivals() }
        let isTooMuch = state.withLock { state in
            state.arrivals.zone = zone
            state.arrivals.records += records
            return state.arrivals.isTooMuch
        }
        if isTooMuch { try await writeArrivals() }
    }

    /// Takes the state of the engine in which it has handed over all that arrived.
    func arrived(_ engine: CKSyncEngine.State.Serialization) async throws {
        let (isIdle, isEnough) = state.withLock { state in
            let isIdle = state.arrivals.isEmpty
            state.arrivals.engine = engine
            return (isIdle, state.arrivals.isEnough)
        }
        if isIdle {
            try await finishArrivals()
        } else if isEnough {
            try await writeArrivals()
        }
    }

    /// Waits until everything that arrived is written.
    ///
    /// - Throws: What the file said against it.
    func finishArrivals() async throws {
        try await writeArrivals()
        try await state.withLock { $0.arrivals.writing }?.value
        state.withLock { $0.arrivals.writing = nil }
    }

    /// Begins to write what is there, after what is being written.
    private func writeArrivals() async throws {
        try await state.withLock { $0.arrivals.writing }?.value
        let arrivals = state.withLock { $0.arrivals.take() }
        guard !arrivals.records.isEmpty || arrivals.engine != nil else { return }
        let task = Task { try await write(arrivals) }
        state.withLock { $0.arrivals.writing = task }
    }

    private func write(_ arrivals: Arrivals) async throws {
        let engine = try arrivals.engine.map { try JSONEncoder().encode($0) }
        var rest = arrivals.records[...]
        repeat {
            let limit = state.withLock { $0.arrivals.limit }
            let part = rest.prefix(limit).map { RemoteRecord($0, file.mapping) }
            rest = rest.dropFirst(limit)
            let duration = try await write(part, arrivals.zone, rest.isEmpty ? engine : nil)
            state.withLock { $0.arrivals.adapt(to: duration, of: part.count) }
        } while !rest.isEmpty
    }

    /// Applies records and keeps a state of the engine, and says how long that held the file.
    private func write(
        _ records: [RemoteRecord],
        _ zone: String,
        _ engine: Data?
    ) async throws -> Duration {
        let (changes, isAgain, start) = try await file.apply { [scope] database, mapping in
            let start = ContinuousClock.now
            if let engine {
                let column = scope == .own ? "engine" : "sharedEngine"
                try database.execute(
                    sql: "UPDATE cloudkit_control SET \(column) = ?",
                    arguments: [engine]
                )
            }
            guard !records.isEmpty else { return ([RowChange](), false, start) }
            var applier = try ChangeApplier(database, mapping, zone: zone)
            try applier.apply(records)
            if applier.sawKnownRecord { try StoreFile.sweep(zone, true, database) }
            return (applier.changes, applier.sawKnownRecord, start)
        }
        let duration = start.duration(to: .now)
        if isAgain { state.withLock { $0.fetches[zone]?.sweeps = true } }
        took(changes)
        progressed(by: records.count)
        return duration
    }
}
