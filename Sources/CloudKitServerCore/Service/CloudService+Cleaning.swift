#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Removes what nobody can use any more: credentials that have expired, and assets that no
    /// record holds and no receipt can set.
    ///
    /// A server calls it now and then; it may run beside requests.
    ///
    /// - Throws: `StorageError`.
    @concurrent
    public func clean() async throws {
        let now = clock.milliseconds
        try await storage.write { try $0.removeCredentials(expiredBefore: now) }
        // A receipt is good for a day after the upload; one more for uploads that take long.
        let oldest = now - 2 * AssetLinks.receiptSeconds * 1000
        try await assets.removeAssets(olderThan: oldest) { [storage] checksum in
            try await storage.read { try $0.holdsAsset(Data(checksum)) }
        }
    }
}
