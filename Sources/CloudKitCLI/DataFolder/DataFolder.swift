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
    /// The requested container; nil for the only one.
    let container: String?

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
            try checkNewContainer()
            Console.say("Creating the data folder \(path)")
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
        let text = ProcessInfo.processInfo.environment[AssetLocation.addressingVariable]
        guard let addressing = AssetLocation.Addressing(rawValue: text ?? "auto") else {
            throw CommandFailure(
                unusable:
                    "\(AssetLocation.addressingVariable): '\(text ?? "")' is not auto or path or host"
            )
        }
        return try AssetLocation(
            address: address,
            source: "The assets of \(path) are in",
            addressing: addressing
        ).storage()
    }

    /// Refuses to create a folder without a container that it can have.
    private func checkNewContainer() throws {
        guard let name = requestedContainer else {
            throw CommandFailure(unusable: noContainer)
        }
        guard let problem = ContainerName.problem(name) else { return }
        throw CommandFailure(unusable: "--container: \(problem)")
    }

    private var noContainer: String {
        "\(path) has no container yet; give --new, and --container with the name that the app uses, such "
            + "as iCloud.com.example.app"
    }

    /// The container of the options or the environment; nil for the only one.
    private var requestedContainer: String? {
        container ?? ProcessInfo.processInfo.environment[ConnectionVariables.Name.container]
    }

    /// Returns the folder's service for a command that writes to it.
    ///
    /// SQLite checks the database first, for a limited time because a check of a large one takes long.
    ///
    /// - Parameter makes: Whether to create a missing folder.
    /// - Returns: The service, without a listening server.
    /// - Throws: `CommandFailure` when there is no such folder, or its database is damaged.
    func openForWriting(makes: Bool = false) async throws -> CloudService {
        let service = try open(makes: makes)
        guard let damage = await service.damage(foundWithin: .seconds(2)) else { return service }
        throw CommandFailure(
            "\(path)/cloud.sqlite is damaged, so nothing was written to it; stop the server, run "
                + "cloudkit check --repair, and start it again (\(damage))"
        )
    }

    /// Returns the selected container.
    ///
    /// - Parameters:
    ///   - service: The folder's service.
    ///   - makes: Whether a missing container will be created.
    /// - Returns: The container's identifier.
    /// - Throws: `CommandFailure` when it is ambiguous or does not exist.
    func containerName(_ service: CloudService, makes: Bool = false) async throws -> String {
        let names = try await service.containers()
        let found = names.isEmpty ? "none" : names.joined(separator: ", ")
        guard let name = requestedContainer else {
            guard let name = names.first, names.count == 1 else {
                throw CommandFailure(
                    unusable: names.isEmpty
                        ? noContainer : "Give --container; \(path) has \(found)"
                )
            }
            return name
        }
        if names.contains(name) { return name }
        guard makes else {
            throw CommandFailure(
                unusable: "No container \(name) in \(path), which has \(found); --new creates one"
            )
        }
        Console.say("\(name) is a new container of \(path)")
        return name
    }
}
