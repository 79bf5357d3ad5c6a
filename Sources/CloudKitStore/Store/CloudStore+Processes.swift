import GRDB
import Synchronization

extension CloudStore {
    /// A Boolean value that indicates whether this store syncs its file.
    ///
    /// Several stores, in one process or in several, may open the same file. The first that starts
    /// syncs; the others track changes, and the next takes over when it stops or its process ends.
    public var isLeading: Bool { election.isLeading }

    /// Looks for changes that other processes wrote into the file, and takes over if the store that
    /// synced it has ended.
    ///
    /// A started store does this automatically, at the configured interval. Changes of other
    /// processes reach this process's `ValueObservation`s; the store that syncs sends them.
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

    /// Checks for other processes' changes until the store stops.
    func watchOtherProcesses() {
        guard election.isShared, let interval = configuration.otherProcessInterval else { return }
        let clock = configuration.clock
        let task = Task { [weak self] in
            while !Task.isCancelled {
                // The app's next call reports an error of the file.
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
