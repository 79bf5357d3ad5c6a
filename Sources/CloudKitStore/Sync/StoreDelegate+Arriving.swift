import CloudKit
import Foundation
import GRDB
import Synchronization

/// One transaction after the other takes what a fetch brought, while the engine fetches the next pages.
///
/// The transaction with the last of what one state of the engine says was fetched takes that state
/// with it, so that the file never says of a record that it has come when it has not.
extension StoreDelegate {
    /// Takes records; they are written when there are enough of them, or when anything else happens.
    func arrived(_ records: [CKRecord], _ zone: String) async throws {
        if state.withLock({ $0.arrivals.zone != zone }) { try await finishArrivals() }
        let writer = state.withLock { state in
            state.arrivals.zone = zone
            state.arrivals.records += records
            return state.arrivals.isTooMuch ? startWriter(&state.arrivals) : nil
        }
        try await writer?.value
    }

    /// Takes the state of the engine in which it has handed over all that arrived.
    func arrived(_ engine: CKSyncEngine.State.Serialization) async throws {
        let isIdle = state.withLock { state in
            let isIdle = state.arrivals.isEmpty
            state.arrivals.engine = engine
            if state.arrivals.isEnough { startWriter(&state.arrivals) }
            return isIdle
        }
        if isIdle { try await finishArrivals() }
    }

    /// Waits until everything that arrived is written.
    ///
    /// - Throws: What the file said against it.
    func finishArrivals() async throws {
        try await state.withLock { $0.arrivals.writer }?.value
        let arrivals = state.withLock { state in
            state.arrivals.writer = nil
            return state.arrivals.take()
        }
        guard !arrivals.records.isEmpty || arrivals.engine != nil else { return }
        try await write(arrivals)
    }

    /// Begins to write what is there, unless that is under way.
    @discardableResult
    private func startWriter(_ arrivals: inout Arrivals) -> Task<Void, any Error>? {
        if !arrivals.isWriting {
            arrivals.isWriting = true
            arrivals.writer = Task {
                while let arrivals = state.withLock({ $0.arrivals.takeEnough() }) {
                    try await write(arrivals)
                }
            }
        }
        return arrivals.writer
    }

    /// Writes what arrived in parts; the next one is read while one is written.
    private func write(_ arrivals: Arrivals) async throws {
        let engine = try arrivals.engine.map(Self.data)
        // After each batch that it sends the engine says how far it is, often as it was.
        guard !arrivals.records.isEmpty || state.withLock({ $0.engine != engine }) else {
            return
        }
        var written = 0
        let records = ordered(arrivals.records)
        let zone = arrivals.zone
        let (known, words) = try await file.read { database in
            let tags = try KnownRecord.tags(
                database,
                of: records.map(\.recordID.recordName),
                in: zone
            )
            return (tags.mapValues { $0.tag }, try Words.current(database))
        }
        var part = part(of: records[...], known, words)
        repeat {
            written += part.count
            let rest = records[written...]
            async let next = self.part(of: rest, known, words)
            let duration = try await write(part, arrivals.zone, rest.isEmpty ? engine : nil)
            state.withLock {
                $0.arrivals.adapt(to: duration, of: part.count)
                if rest.isEmpty, let engine { $0.engine = engine }
            }
            part = await next
        } while !part.isEmpty
    }

    /// The engine's state as bytes, the same for the same state.
    private static func data(_ engine: CKSyncEngine.State.Serialization) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(engine)
    }

    /// Records in the order of their rows: parents first, then by name, as the indexes have them.
    ///
    /// A transaction of neighbours writes a fraction of the pages that it would write of records as
    /// they come. Of a record that came twice, the later one stays the later.
    private func ordered(_ records: [CKRecord]) -> [CKRecord] {
        let catalog = file.catalog
        return records.enumerated()
            .map { offset, record in
                let rank = catalog.table(ofType: record.recordType).map { catalog.rank($0.name) }
                return ((rank ?? 0, record.recordID.recordName, offset), record)
            }
            .sorted { $0.0 < $1.0 }
            .map(\.1)
    }

    /// As many of the first records as one transaction takes.
    ///
    /// Those that came as they are known, such as a device's own after it sent them, are not read.
    private func part(
        of records: ArraySlice<CKRecord>,
        _ known: [String: String],
        _ words: Words
    ) -> [RemoteRecord] {
        records.prefix(state.withLock { $0.arrivals.limit }).map { record in
            let tag = known[record.recordID.recordName]
            return tag != nil && tag == record.recordChangeTag
                ? RemoteRecord(unread: record) : RemoteRecord(record, file.mapping, words)
        }
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
                try database.run("UPDATE grdb_cloudkit_control SET \(column) = ?", [engine])
            }
            guard !records.isEmpty else { return ([RowChange](), false, start) }
            var applier = try ChangeApplier(database, mapping, zone: zone)
            applier.defersUniqueness = true
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
