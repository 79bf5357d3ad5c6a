import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Logging

/// The folder of a server's data, which can be administered even while the server runs.
///
/// Both use one SQLite file, which allows one writer at a time; a server reloads its cached data
/// within 5 seconds.
struct DataFolder {
    let path: String

    /// Refuses a folder that is not a server's data folder.
    ///
    /// - Throws: `CommandFailure`.
    func check() throws {
        guard try !hasDatabase() else { return }
        throw CommandFailure(
            unusable: "\(path) is not a data folder of a server; name one with --data"
        )
    }

    /// Returns whether a server has kept data in the folder.
    ///
    /// - Throws: `CommandFailure` when this user may not look into it.
    func hasDatabase() throws -> Bool {
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        _ = manager.fileExists(atPath: path, isDirectory: &isFolder)
        guard !isFolder.boolValue || manager.isExecutableFile(atPath: path) else {
            throw CommandFailure(
                unusable:
                    "This user may not look into \(path); run the command as the server's user"
            )
        }
        return manager.fileExists(atPath: path + "/cloud.sqlite")
    }

    /// Returns the folder's service.
    ///
    /// - Parameters:
    ///   - makes: Whether to create a missing folder.
    ///   - readsAssets: Whether the command reads assets, also those that are not in the folder.
    /// - Returns: The service, without a listening server.
    /// - Throws: `CommandFailure` when there is no such folder, or its assets cannot be reached.
    func open(makes: Bool = false, readsAssets: Bool = false) throws -> CloudService {
        if try !hasDatabase() {
            guard makes else {
                throw CommandFailure(
                    unusable:
                        "\(path) is not a data folder of a server; name one with --data, create one "
                        + "with cloudkit serve, or give --new"
                )
            }
        }
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .critical
        var configuration = CloudServer.Configuration(directory: path)
        configuration.assets = try assets(isReached: readsAssets)
        return try CloudServer(configuration: configuration, logger: logger).service
    }

    /// Returns the storage of assets that are not in the folder; nil if they are.
    ///
    /// - Parameter isReached: Whether the command needs them.
    /// - Returns: The storage, which fails if the command does not need it.
    /// - Throws: `CommandFailure` when they cannot be reached.
    func assets(isReached: Bool = true) throws -> (any AssetStorage)? {
        guard let address = CloudServer.assetsLocation(of: path) else { return nil }
        guard isReached else { return UnreachedAssets(location: address) }
        return try AssetLocation(
            address: address,
            source: "The assets of \(path) are in",
            addressing: .ofProcess
        ).storage()
    }
}
