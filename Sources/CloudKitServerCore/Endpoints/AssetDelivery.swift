import CloudKitBasics
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bytes behind download URLs: of assets, and of archives.
struct AssetDelivery: Sendable {
    let context: ServiceContext

    /// Opens the bytes behind the token of a download URL.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a token that this service did not create or
    ///   that has expired, and for a missing file; `UnreadableAsset` for one that cannot be read.
    func open(_ token: String) async throws -> AssetContents {
        var faults = context.decideFaults(asset: "assets/fetch")
        var outcome = FaultOutcome()
        defer { context.faults.settle(&faults, outcome) }
        if let error = faults.error { throw error }
        var contents = try await contents(token)
        outcome.bytes = Int(contents.size)
        contents.delivery = faults.delivery
        return contents
    }

    private func contents(_ token: String) async throws -> AssetContents {
        let links = try await context.links("", now: context.clock.milliseconds)
        do {
            if let archive = try await archive(token, links) { return archive }
            if let (checksum, size) = links.asset(downloadToken: token) {
                if var contents = try await context.assets.open(checksum) {
                    try check(contents.size, of: checksum, isThatOf: size)
                    contents.entityTag = "\"\(Hexadecimal.text(checksum))\""
                    return contents
                }
                let hash = Data(checksum)
                if try await context.storage.read({ try $0.holdsAsset(hash) }) {
                    throw MissingAsset(checksum: checksum)
                }
            }
        } catch let error as StorageError where error.code != .busy {
            throw UnreadableAsset(error: error)
        }
        throw RequestError(
            .notFound,
            reason: "The download URL was not created by this service, has expired, or leads to a "
                + "file that no record has any longer; fetch the record again for a new one"
        )
    }

    /// Refuses a file that was truncated or extended, before its length is sent.
    private func check(_ found: Int64, of checksum: [UInt8], isThatOf size: Int64?) throws {
        guard let size, found != size else { return }
        throw StorageError(
            .corrupt,
            "The file of the asset \(Hexadecimal.text(checksum)) has \(found) bytes instead of "
                + "\(size); bring it back from a backup, or upload it again"
        )
    }

    /// Returns the archive behind a download token; nil if the token does not belong to an archive.
    private func archive(_ token: String, _ links: AssetLinks) async throws -> AssetContents? {
        guard let place = links.archive(downloadToken: token) else { return nil }
        let directory = ArchiveDirectory(
            environment: RowID(rawValue: place.environment),
            user: RowID(rawValue: place.user)
        )
        let now = links.now
        guard
            let plan = try await context.storage.read({ try directory.plan(place.id, now: now, $0) }
            )
        else { return nil }
        let reader = ArchiveReader(plan, context.assets)
        return AssetContents(
            size: plan.layout.size,
            chunks: AsyncThrowingStream { try await reader.next() }
        )
    }
}
