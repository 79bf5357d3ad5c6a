#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Removes what nobody can use any more, and finishes copies that nobody asks about.
    ///
    /// That is: credentials that have expired, tombstones of records that were deleted long ago,
    /// archives whose links ended, copies that ended long ago, uploads that no record took over within
    /// half an hour, and assets that no record holds and nothing that was handed out can bring back. A
    /// server calls it every few minutes; it may run beside requests.
    ///
    /// - Throws: `StorageError`.
    @concurrent
    public func clean() async throws {
        let now = clock.milliseconds
        try await updateIndexes()
        try await storage.write { try $0.removeCredentials(expiredBefore: now) }
        try await removeTombstones(olderThan: now - configuration.tombstoneSeconds * 1000)
        try await cleanJobs(now)
        try await storage.write { try AssetHolds().clean(now: now, $0) }
        try await cleanUploads(now)
        // A receipt is good for a day after the upload; one more for uploads that take long.
        let oldest = now - 2 * AssetLinks.receiptSeconds * 1000
        try await assets.removeAssets(olderThan: oldest) { [storage] checksum in
            try await storage.read { reader in
                let checksum = Data(checksum)
                return try reader.holdsAsset(checksum)
                    || AssetHolds().holds(checksum, now: now, reader)
            }
        }
    }

    /// Tombstones that go in one commit.
    private static let tombstoneBatch = 500

    /// Removes the tombstones of records that were deleted before a time, and moves the horizons of
    /// their zones: change tokens of before that are refused as expired.
    private func removeTombstones(olderThan milliseconds: Int64) async throws {
        var removed = 1
        // A tombstone that others name as their parent goes after them.
        while removed > 0 {
            removed = try await storage.write { writer in
                let old = try writer.tombstones(
                    modifiedBefore: milliseconds,
                    limit: Self.tombstoneBatch
                )
                var horizons: [RowID<StoredZone>: Int64] = [:]
                for record in old {
                    horizons[record.zone] = max(horizons[record.zone] ?? 0, record.sequence)
                    try writer.removeRecord(record.id)
                }
                for (id, horizon) in horizons {
                    guard var zone = try writer.zone(id), zone.horizonSequence < horizon else {
                        continue
                    }
                    zone.horizonSequence = horizon
                    try writer.updateZone(zone)
                }
                return old.count
            }
        }
    }

    /// Forgets archives and copies that ended, and finishes copies that nobody asks about.
    private func cleanJobs(_ now: Int64) async throws {
        let places = try await storage.read { reader in
            try reader.environments().flatMap { environment in
                try reader.users(container: environment.container).map { (environment, $0) }
            }
        }
        for (environment, user) in places {
            try await finishCopies(of: user, in: environment)
            let archives = ArchiveDirectory(environment: environment.id, user: user.id)
            let copies = CopyDirectory(environment: environment.id, user: user.id)
            let isNeeded = try await storage.read { reader in
                try archives.hasEnded(now: now, reader) || copies.hasEnded(now: now, reader)
            }
            guard isNeeded else { continue }
            try await storage.write { writer in
                try archives.clean(now: now, writer)
                try copies.clean(now: now, writer)
            }
        }
    }
}
