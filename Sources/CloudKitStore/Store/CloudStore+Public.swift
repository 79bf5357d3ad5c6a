import CloudKit
import Synchronization

extension CloudStore {
    /// Syncs the public tables, after any sync of them in flight.
    func syncPublic() async throws -> SyncSummary {
        guard file.catalog.hasPublicTables else { return SyncSummary() }
        let task = state.withLock { state in
            let before = state.publicSync
            let channel =
                state.publicChannel
                ?? PublicChannel(
                    context(.public, container.publicCloudDatabase),
                    folder: assets.url
                )
            state.publicChannel = channel
            let task = Task {
                // The call that started it reports its error.
                _ = try? await before?.value
                _ = channel.context.reporter.takeSummary()
                try await channel.sync()
                return channel.context.reporter.takeSummary()
            }
            state.publicSync = task
            return task
        }
        return try await task.value
    }

    /// Starts a sync of the public tables without waiting for it; failures are retried with the
    /// next change or sync.
    func hintPublic() {
        guard file.catalog.hasPublicTables, configuration.isConnected(),
            !state.withLock({ $0.isPaused })
        else { return }
        // A failure is retried, as said above.
        Task { [weak self] in _ = try? await self?.syncPublic() }
    }

    /// Returns the tags of all records of the public tables, by name.
    func publicTags() async throws -> [String: String] {
        var tags: [String: String] = [:]
        for table in file.catalog.tables where table.isPublic {
            let found = try await container.publicCloudDatabase.tags(ofType: table.recordType)
            tags.merge(found) { $1 }
        }
        return tags
    }
}
