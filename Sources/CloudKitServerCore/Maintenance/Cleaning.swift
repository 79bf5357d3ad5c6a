#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The removal of expired credentials, old tombstones, and uploads and assets that no record has.
struct Cleaning: Sendable {
    let context: ServiceContext

    /// Removes unusable data, and completes copies whose clients no longer request their status.
    func run() async throws {
        let now = context.clock.milliseconds
        try await IndexRenewal(context: context).run()
        try await context.storage.write { try $0.removeCredentials(expiredBefore: now) }
        try await removeTombstones(olderThan: now - context.configuration.tombstoneSeconds * 1000)
        try await cleanJobs(now)
        try await context.storage.write { try AssetHolds().clean(now: now, $0) }
        try await removeUploads(now)
        // A receipt is valid for a day after the upload; another day allows for slow uploads.
        let oldest = now - 2 * AssetLinks.receiptSeconds * 1000
        try await context.assets.removeAssets(olderThan: oldest) { checksum in
            try await context.storage.read { reader in
                let checksum = Data(checksum)
                return try reader.holdsAsset(checksum)
                    || AssetHolds().holds(checksum, now: now, reader)
            }
        }
    }

    /// The number of tombstones that are removed in one commit.
    private static let tombstoneBatch = 500

    /// Removes the tombstones of records that were deleted before a time, and advances the horizons
    /// of their zones: older change tokens are refused as expired.
    private func removeTombstones(olderThan milliseconds: Int64) async throws {
        var removed = 1
        // A tombstone that others name as their parent is removed after them.
        while removed > 0 {
            removed = try await context.storage.write { writer in
                let old = try writer.tombstones(
                    modifiedBefore: milliseconds,
                    limit: Self.tombstoneBatch
                ).filter { !$0.isDamaged }
                var horizons: [RowID<StoredZone>: Int64] = [:]
                for record in old {
                    horizons[record.zone] = max(horizons[record.zone] ?? 0, record.sequence)
                    try writer.removeRecord(record.id, in: record.zone)
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

    /// Removes archives and copies that have ended, and completes copies whose clients no longer
    /// request their status.
    private func cleanJobs(_ now: Int64) async throws {
        let places = try await context.storage.read { reader in
            try reader.environments().flatMap { environment in
                try reader.users(container: environment.container).map { (environment, $0) }
            }
        }
        for (environment, user) in places {
            try await CopyRunner(context: context).finishAll(of: user, in: environment)
            let archives = ArchiveDirectory(environment: environment.id, user: user.id)
            let copies = CopyDirectory(environment: environment.id, user: user.id)
            let isNeeded = try await context.storage.read { reader in
                try archives.hasEnded(now: now, reader) || copies.hasEnded(now: now, reader)
            }
            guard isNeeded else { continue }
            try await context.storage.write { writer in
                try archives.clean(now: now, writer)
                try copies.clean(now: now, writer)
            }
        }
    }

    /// Removes the bytes of uploads that no record took over in time.
    private func removeUploads(_ now: Int64) async throws {
        let databases = try await context.storage.read { reader in
            try reader.environments().flatMap { try reader.databases($0.id).map(\.id) }
                .filter { try UploadDirectory(database: $0).hasEnded(now: now, reader) }
        }
        for database in databases {
            let files = try await context.storage.write { writer in
                try UploadDirectory(database: database).clean(now: now, writer)
            }
            // Identical bytes of a later upload have a newer file.
            let oldest = now - UploadDirectory.waitSeconds * 1000 + 1
            for file in Set(files) {
                let isNeeded = try await context.storage.read { reader in
                    try reader.holdsAsset(file) || AssetHolds().holds(file, now: now, reader)
                }
                guard !isNeeded else { continue }
                try await context.assets.removeAsset(Array(file), olderThan: oldest)
            }
        }
    }
}
