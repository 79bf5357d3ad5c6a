import ArgumentParser
import CloudKitServerCore
import CloudKitServerSQLite
import Foundation

#if S3
import CloudKitServerS3
#endif

/// The place of a server's assets outside of its data folder, such as `s3://bucket/prefix`.
struct AssetLocation {
    /// The ways in which a URL names a bucket: in the path for a server of one's own and in the host name at
    /// Amazon, or one of both.
    enum Addressing: String, ExpressibleByArgument, CaseIterable {
        case auto, path, host
    }

    /// The variable with the addressing, which commands without that option read.
    static let addressingVariable = "CLOUDKIT_SERVE_ASSETS_ADDRESSING"

    /// The address.
    let address: String
    /// The option or the file that names the address, for messages.
    var source = "--assets"
    /// The way in which a URL names the bucket.
    var addressing = Addressing.auto
    /// A Boolean value that indicates whether clients download from the place itself.
    var isDirect = false
    /// The folder for uploads that are still arriving.
    var folder: String?

    #if S3
    /// Returns the storage of the assets.
    ///
    /// - Throws: `CommandFailure` for an address that is none, and for missing credentials.
    func storage(
        _ variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> any AssetStorage {
        guard S3Settings.isAddress(address) else { throw noAddress }
        do {
            var settings = try S3Settings(
                address: address,
                variables: variables,
                addressing: S3Settings.Addressing(rawValue: addressing.rawValue) ?? .automatic
            )
            settings.downloadsDirectly = isDirect
            settings.spoolFolder = folder
            return S3AssetStorage(settings, clock: SystemClock())
        } catch {
            throw CommandFailure(unusable: "\(source) \(address): \(error.description)")
        }
    }

    /// Refuses a storage that cannot be reached, and one with the assets of another server for a new folder, whose
    /// server would consider all of them unused.
    ///
    /// - Parameters:
    ///   - storage: The storage.
    ///   - isNew: A Boolean value that indicates whether the folder has no database.
    ///   - data: The folder.
    /// - Throws: `CommandFailure`, or `StorageError` for a storage that cannot be reached.
    static func check(_ storage: any AssetStorage, isNew: Bool, _ data: String) async throws {
        guard let storage = storage as? S3AssetStorage else { return }
        let isEmpty = try await storage.isEmpty()
        guard isNew, !isEmpty else { return }
        throw CommandFailure(
            unusable:
                "\(storage.location ?? "") has assets, and \(data) has no database that needs them, so a "
                + "cleaning would remove them; restore a backup of the folder, or give another prefix"
        )
    }
    #else
    /// Refuses each address, because this program cannot reach any.
    ///
    /// - Throws: `CommandFailure`.
    func storage() throws -> any AssetStorage {
        guard address.hasPrefix("s3://") else { throw noAddress }
        throw CommandFailure(
            unusable:
                "\(source) \(address): this program was built without assets in S3; build it with the "
                + "trait S3, such as with swift build --traits default,S3"
        )
    }

    /// Accepts each storage, because there is none to check.
    static func check(_ storage: any AssetStorage, isNew: Bool, _ data: String) async throws {}
    #endif

    private var noAddress: CommandFailure {
        CommandFailure(
            unusable:
                "\(source): '\(address)' is no place for assets; one is s3://my-bucket/assets, and without "
                + "the option they are files in the folder of the data"
        )
    }
}

/// A storage that is not reached, for commands that need no assets.
struct UnreachedAssets: AssetStorage {
    let location: String?

    private var error: StorageError {
        StorageError(.other, "This command does not reach the assets in \(location ?? "")")
    }

    func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data { throw error }

    func open(_ checksum: [UInt8]) async throws -> AssetContents? { throw error }

    func removeAsset(_ checksum: [UInt8], olderThan milliseconds: Int64) async throws {
        throw error
    }

    func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable (_ checksum: [UInt8]) async throws -> Bool
    ) async throws { throw error }
}
