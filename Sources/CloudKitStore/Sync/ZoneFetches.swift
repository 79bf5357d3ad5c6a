import CloudKit
import GRDB
import Synchronization

/// The fetches of a channel's zones, each of which ends with a look for what arrived without notice: rows that
/// can show now, and records that are missing on the server.
final class ZoneFetches: Sendable {
    private struct State {
        /// The fetches in flight.
        var current: [StoreZone: Fetch] = [:]
        /// The zones of which a fetch has been completed here.
        var finished: Set<StoreZone> = []
        /// A record that is missing on the server without a fetched deletion.
        var suspect: Suspect?
        /// `true` when a zone of this fetch was not fetched.
        var isIncomplete = false
        /// The zones that are gone, and whose objects may be in others.
        var gone: Set<StoreZone> = []
        /// `true` when all zones were fetched once, and deleted rows are gone.
        var isComplete = false
    }

    /// The findings of a zone's fetch about itself.
    private struct Fetch {
        /// The fetch's number; the records that it includes have this number or a later one.
        var session: Int64 = 0
        /// `true` when it included known records, which shows that it covers all records.
        var sweeps = false
    }

    /// A record that a fetch did not include and the server does not have.
    struct Suspect: Sendable {
        fileprivate var name: String
        fileprivate var session: Int64
    }

    private let context: SyncContext
    private let file: StoreFile
    private let receiver: ChangeReceiver
    private let missing: MissingRecords
    private let state = Mutex(State())

    init(_ context: SyncContext, _ receiver: ChangeReceiver) {
        self.context = context
        file = context.file
        self.receiver = receiver
        missing = MissingRecords(context)
    }

    func begin(_ zone: StoreZone) async throws {
        // What an interrupted fetch saw says nothing about this one.
        _ = receiver.takeRepeated(zone)
        let fetch = try await file.writer.write { database in
            try database.run("UPDATE grdb_cloudkit_control SET session = session + 1")
            // A sweep that a crash interrupted continues.
            let sweeps = try Bool.fetchOne(
                database.cachedStatement(
                    sql: zone == .own
                        ? "SELECT sweeps OR engine IS NULL FROM grdb_cloudkit_control"
                        : "SELECT max(sweeps) FROM grdb_cloudkit_zone WHERE zone = \(zone.text.literal)"
                )
            )
            let session = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT session FROM grdb_cloudkit_control")
            )
            return Fetch(session: session ?? 0, sweeps: sweeps ?? false)
        }
        state.withLock { $0.current[zone] = fetch }
    }

    /// Ends a fetch: waiting rows are retried, and missing records are looked for.
    func end(_ zone: StoreZone) async throws {
        var fetch = state.withLock { $0.current.removeValue(forKey: zone) } ?? Fetch()
        if receiver.takeRepeated(zone) { fetch.sweeps = true }
        if !fetch.sweeps {
            // One is enough: a record that is missing although no deletion of it arrived.
            let unseen = try await missing.unseen(zone, before: fetch.session, limit: 1)
            if let name = try await missing.among(unseen, zone).first {
                if zone == .own {
                    state.withLock { $0.suspect = Suspect(name: name, session: fetch.session) }
                } else {
                    fetch.sweeps = true
                }
            }
        }
        if fetch.sweeps { try await sweep(zone, before: fetch.session) }
        try await finish(zone)
    }

    /// Completes a fetch whose last page an earlier process received without completing the fetch:
    /// no page repeats that it is the last.
    ///
    /// - Precondition: Everything was fetched.
    func finishInterrupted() async throws {
        for zone in try await file.read(context.scope.zones)
        where !state.withLock({ $0.finished.contains(zone) }) {
            try await finish(zone)
        }
        if !state.withLock({ $0.isComplete }) { try await endAll() }
    }

    /// Keeps the rows of a vanished zone waiting until all other zones are fetched, because their objects may be there.
    func lose(_ zone: StoreZone) async throws {
        state.withLock { _ = $0.gone.insert(zone) }
        try await file.writer.write { [file] database in
            let applier = try ChangeApplier(database, file.mapping, zone: zone)
            let known = try KnownRecord.fetchAll(
                database,
                where: "zone = ?",
                arguments: [zone]
            )
            try applier.delete(known.map(\.recordName))
        }
    }

    /// Notes that a zone could not be fetched.
    func fail() { state.withLock { $0.isIncomplete = true } }

    /// Ends the fetch of all zones: where another client determines the format, deleted rows go now, unless their
    /// objects have moved to another zone.
    func endAll() async throws {
        let isIncomplete = state.withLock { exchange(&$0.isIncomplete, with: false) }
        guard !isIncomplete, file.catalog.hasFormats, context.scope.contains(.own) else { return }
        for zone in state.withLock({ exchange(&$0.gone, with: []) }).sorted() {
            try await end(shareOf: zone)
        }
        for zone in try await file.read(context.scope.zones) {
            let (changes, refused) = try await file.apply { database, mapping in
                let applier = try ChangeApplier(database, mapping, zone: zone)
                try applier.finishDeletions()
                try applier.retryHidden()
                return (applier.changes, applier.editsRefused)
            }
            context.reporter.received(changes)
            context.reporter.editsRefused(refused)
        }
        state.withLock { $0.isComplete = true }
    }

    /// Removes the rows of a zone that is gone, and shows those that waited for them.
    func end(shareOf zone: StoreZone) async throws {
        let (changes, replaced) = try await file.leave(zone)
        context.reporter.received(changes)
        context.reporter.replacedByDuplicate(replaced)
        context.reporter.onEvent(.shareEnded(file.id(zone)))
    }

    private func finish(_ zone: StoreZone) async throws {
        let limit = context.configuration.journalLimit
        let (changes, refused, replaced) = try await file.apply { database, mapping in
            let applier = try ChangeApplier(database, mapping, zone: zone)
            // Rows that can show now may end a reference that holds up a deletion, or be one.
            try applier.retryHidden()
            if !applier.postponesDeletions { try applier.finishDeletions() }
            try applier.journal.trim(to: limit)
            return (applier.changes, applier.editsRefused, applier.replacedByDuplicate)
        }
        context.reporter.received(changes)
        context.reporter.editsRefused(refused)
        context.reporter.replacedByDuplicate(replaced)
        state.withLock { _ = $0.finished.insert(zone) }
        try await context.fillLacking()
    }

    // MARK: Records that were deleted without notice

    /// Finds records that were deleted without a notice.
    ///
    /// A fetch from the beginning lists existing records, not earlier deletions. Records that it
    /// did not include are looked up by name, so a fetch that only repeated a page deletes nothing.
    ///
    /// - Parameters:
    ///   - zone: The zone.
    ///   - session: The fetch that should include the records.
    ///   - zoneIsNew: Whether missing records were deleted with their zone.
    /// - Throws: A `CKError`, or an error of the file.
    private func sweep(
        _ zone: StoreZone,
        before session: Int64,
        zoneIsNew: Bool = false
    ) async throws {
        let unseen = try await missing.unseen(zone, before: session)
        for names in context.portions(of: unseen) {
            let gone = try await missing.among(names, zone)
            if zoneIsNew, context.configuration.whenZoneIsDeleted != .deleteSynced {
                try await file.sendAgain(gone)
            } else {
                try await receiver.delete(gone, zone)
            }
        }
        try await file.writer.write { try StoreFile.sweep(zone, false, $0) }
    }

    /// Returns and forgets the record that is missing without a fetched deletion.
    func takeSuspect() -> Suspect? { state.withLock { exchange(&$0.suspect, with: nil) } }

    /// Checks whether the user's zone was replaced by another with the same name, or was emptied.
    ///
    /// Another device deleted and recreated it between two fetches, or the token expired. The
    /// second fetch then starts from the beginning, finds no known record, and does not report it.
    /// The evidence is a record that is missing although a complete fetch since then has not
    /// brought its deletion.
    func confirmZone(_ suspect: Suspect) async throws {
        let isKnown = try await file.read { database in
            try KnownRecord.fetch(database, name: suspect.name)?.system != nil
        }
        guard isKnown, try await !missing.among([suspect.name], .own).isEmpty else { return }
        try await sweep(.own, before: suspect.session, zoneIsNew: true)
        try await finish(.own)
        try await endAll()
    }

    /// Checks the zone with another fetch, for which no event may wait.
    func confirmZoneLater(_ engine: CKSyncEngine) {
        guard let suspect = takeSuspect() else { return }
        Task { [weak self] in
            do {
                try await engine.fetchChanges()
                try await self?.confirmZone(suspect)
            } catch {
                self?.state.withLock { $0.suspect = suspect }
            }
        }
    }
}
