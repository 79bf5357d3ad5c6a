import CloudKit
import Foundation
import GRDB
import Synchronization

/// The receiver of fetched changes, which writes them in consecutive transactions while the next pages are
/// fetched.
///
/// The transaction with the last records of an engine's state also stores that state, so that the
/// file never reports a record as fetched that it does not have.
final class ChangeReceiver: Sendable {
    private struct State {
        /// The changes that have arrived and are not written yet.
        var arrivals = Arrivals()
        /// The engine's state that was written last.
        var engine: Data?
        /// The zones of which a known record arrived again, which shows that a fetch covers all records.
        var repeated: Set<StoreZone> = []
    }

    private let context: SyncContext
    private let file: StoreFile
    private let state = Mutex(State())

    init(_ context: SyncContext) {
        self.context = context
        file = context.file
    }

    func receive(_ event: CKSyncEngine.Event.FetchedRecordZoneChanges) async throws {
        let records = event.modifications.map(\.record)
        for (zone, records) in context.byZone(records, \.recordID.zoneID) {
            try await receive(records, zone)
        }
        let deletions = context.byZone(event.deletions.map(\.recordID), \.zoneID)
        guard !deletions.isEmpty else { return }
        // Deletions apply to all that arrived before them.
        try await finish()
        for (zone, ids) in deletions { try await delete(ids.map(\.recordName), zone) }
    }

    func receive(_ records: [CKRecord], _ zone: StoreZone) async throws {
        // Shares first: a row shows when it is known whether it may be written. Of the user's own ones,
        // the share of everything counts: what members write may refer to what the owner has deleted.
        let shares = records.compactMap { $0 as? CKShare }.filter {
            zone.isShared || $0.recordID.recordName == CKRecordNameZoneWideShare
        }
        try await followPermissions(shares, zone)
        try await add(records.filter { !($0 is CKShare) }, zone)
    }

    func delete(_ names: [String], _ zone: StoreZone) async throws {
        guard !names.isEmpty else { return }
        let (changes, refused, replaced) = try await file.apply { database, mapping in
            let applier = try ChangeApplier(database, mapping, zone: zone)
            try applier.delete(names)
            return (applier.changes, applier.editsRefused, applier.replacedByDuplicate)
        }
        context.reporter.received(changes)
        context.reporter.editsRefused(refused)
        context.reporter.replacedByDuplicate(replaced)
    }

    /// Returns whether a known record of a zone has arrived again since the last call.
    func takeRepeated(_ zone: StoreZone) -> Bool {
        state.withLock { $0.repeated.remove(zone) } != nil
    }

    /// Updates permissions from fetched shares, in one transaction with the rows that waited for them.
    private func followPermissions(_ shares: [CKShare], _ zone: StoreZone) async throws {
        guard !shares.isEmpty else { return }
        let permissions = shares.map {
            (name: $0.recordID.recordName, writes: !zone.isShared || Self.writes($0))
        }
        let changes = try await file.apply { database, mapping in
            for share in permissions {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO grdb_cloudkit_share (zone, name, writes) VALUES (?, ?, ?)
                        """,
                    arguments: [zone, share.name, share.writes]
                )
            }
            let applier = try ChangeApplier(
                database,
                mapping,
                zone: zone,
                defersUniqueness: true
            )
            try applier.follow(permissions.map(\.name))
            return applier.changes
        }
        context.reporter.received(changes)
    }

    private static func writes(_ share: CKShare) -> Bool {
        share.publicPermission == .readWrite
            || share.currentUserParticipant?.permission == .readWrite
    }

    // MARK: Arrivals

    /// Adds records, which are written when there are enough of them, or before anything else happens.
    private func add(_ records: [CKRecord], _ zone: StoreZone) async throws {
        // A transaction writes one zone.
        if state.withLock({ $0.arrivals.zone != zone }) { try await finish() }
        let writer = state.withLock { state in
            state.arrivals.zone = zone
            state.arrivals.records += records
            // The engine waits only if the file cannot keep up with the pages.
            return state.arrivals.isTooMuch ? startWriter(&state.arrivals) : nil
        }
        try await writer?.value
    }

    /// Receives the engine's state after all records that have arrived.
    func receive(_ engine: CKSyncEngine.State.Serialization) async throws {
        // With nothing to write, the state is stored at once, otherwise with the last records
        // before it.
        let isIdle = state.withLock { state in
            let isIdle = state.arrivals.isEmpty
            state.arrivals.engine = engine
            if state.arrivals.isEnough { startWriter(&state.arrivals) }
            return isIdle
        }
        if isIdle { try await finish() }
    }

    /// Waits until all arrivals are written.
    ///
    /// - Throws: An error of the file.
    func finish() async throws {
        // An error of the writer ends the sync here, before anything else is written.
        try await state.withLock { $0.arrivals.writer }?.value
        let arrivals = state.withLock { state in
            state.arrivals.writer = nil
            return state.arrivals.take()
        }
        guard !arrivals.records.isEmpty || arrivals.engine != nil else { return }
        try await write(arrivals)
    }

    /// Starts the writer, unless it is running.
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

    /// Writes arrivals in parts; the next part is read while one is written.
    private func write(_ arrivals: Arrivals) async throws {
        let engine = try arrivals.engine.map(Self.data)
        // The engine reports its state after each batch that it sends, often unchanged.
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

    /// Returns the engine's state as bytes, the same for the same state.
    private static func data(_ engine: CKSyncEngine.State.Serialization) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(engine)
    }

    /// Returns records in the order of their rows: parents first, then by name, as in the indexes.
    ///
    /// A transaction of adjacent records writes a fraction of the pages that it would write in
    /// order of arrival. Of a record that arrived twice, the later one stays later.
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

    /// Returns the first records, as many as one transaction takes.
    ///
    /// Records with known versions, such as a device's own after it sent them, are not read.
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

    /// Applies records and stores an engine's state, and returns how long that held the file.
    private func write(
        _ records: [RemoteRecord],
        _ zone: StoreZone,
        _ engine: Data?
    ) async throws -> Duration {
        let scope = context.scope
        let (changes, refused, isAgain, start) = try await file.apply { database, mapping in
            let start = ContinuousClock.now
            if let engine {
                let column = scope == .own ? "engine" : "sharedEngine"
                try database.run("UPDATE grdb_cloudkit_control SET \(column) = ?", [engine])
            }
            guard !records.isEmpty else { return ([RowChange](), [RowKey](), false, start) }
            let applier = try ChangeApplier(
                database,
                mapping,
                zone: zone,
                defersUniqueness: true
            )
            try applier.apply(records)
            // A fetch that repeats known records began from the beginning and lists no deletions.
            // Noted in the file, so that a sweep follows even after a crash.
            if applier.sawKnownRecord { try StoreFile.sweep(zone, true, database) }
            return (applier.changes, applier.editsRefused, applier.sawKnownRecord, start)
        }
        let duration = start.duration(to: .now)
        if isAgain { state.withLock { _ = $0.repeated.insert(zone) } }
        context.reporter.received(changes)
        context.reporter.editsRefused(refused)
        context.reporter.progressed(by: records.count)
        return duration
    }
}
