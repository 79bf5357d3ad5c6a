import GRDB
import Synchronization

extension CloudStore {
    /// Whether this store is the one that syncs its file.
    ///
    /// Several stores, in one process or in several, may be open over a file. The first that starts
    /// syncs; the others note changes, and the next takes over when it stops or its process ends.
    public var isLeading: Bool { election.isLeading }

    /// Looks whether other processes wrote into the file, and takes over when the one that synced is
    /// gone.
    ///
    /// A store that is started does this by itself, as often as the configuration says. What others
    /// wrote is told to this process's `ValueObservation`s; the one that syncs sends it.
    ///
    /// - Throws: An error of the database.
    public func checkOtherProcesses() async throws {
        let version = try await file.writer.write { database in
            try Int.fetchOne(database, sql: "PRAGMA data_version") ?? 0
        }
        let hasChanged = state.withLock { state in
            defer { state.dataVersion = version }
            return state.dataVersion.map { $0 != version } ?? false
        }
        if hasChanged {
            try await file.writer.write { try $0.notifyChanges(in: .fullDatabase) }
        }
        guard state.withLock({ $0.isStarted }) else { return }
        let wasLeading = isLeading
        try await engine()
        if configuration.syncsAutomatically, isLeading, hasChanged || !wasLeading { hint() }
    }

    /// Goes on checking until the store stops.
    func watchOtherProcesses() {
        guard election.isShared, let interval = configuration.otherProcessInterval else { return }
        let clock = configuration.clock
        let task = Task { [weak self] in
            while !Task.isCancelled {
                // An error of the file is told by the next call that the app makes.
                try? await self?.checkOtherProcesses()
                guard self != nil else { return }
                try? await clock.sleep(for: interval)
            }
        }
        state.withLock { state in
            state.watch?.cancel()
            state.watch = task
        }
    }
}
