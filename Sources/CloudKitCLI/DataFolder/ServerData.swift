import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Logging

/// The data of a server that a command works on, even while servers run: a folder, or a PostgreSQL database.
struct ServerData {
    /// The place of the data.
    enum Place {
        case folder(String)
        case database(ServerDatabase)
    }

    /// The folder of commands that name no place.
    static let usualFolder = "cloudkit-data"

    let place: Place
    /// The requested container; nil for the only one.
    let container: String?

    /// Finds the data that options name: `--data`, `--database`, CLOUDKIT_DATABASE, or the usual folder.
    ///
    /// - Throws: `CommandFailure` for two places, or an address that is none.
    init(folder: String?, database: String?, container: String? = nil) throws {
        self.container = container
        if let database {
            guard folder == nil else { throw Self.twoPlaces("--data", "--database") }
            place = .database(try ServerDatabase(database, source: "--database"))
        } else if folder == nil,
            let address = ProcessInfo.processInfo.environment[ServerDatabase.variable],
            !address.isEmpty
        {
            place = .database(try ServerDatabase(address, source: ServerDatabase.variable))
        } else {
            place = .folder(folder ?? Self.usualFolder)
        }
    }

    /// Finds the data that one text names: the URL of a database, or a folder.
    ///
    /// - Throws: `CommandFailure` for a URL that is no address.
    init(at text: String, source: String, container: String? = nil) throws {
        self.container = container
        place =
            ServerDatabase.isURL(text)
            ? .database(try ServerDatabase(text, source: source)) : .folder(text)
    }

    /// Returns the refusal of a folder beside a database.
    static func twoPlaces(_ folder: String, _ database: String) -> CommandFailure {
        CommandFailure(
            unusable:
                "\(folder) and \(database) name two places for the same data; give one of them"
        )
    }

    /// The place, for messages; without a password.
    var name: String {
        switch place {
        case .folder(let path): path
        case .database(let database): database.name
        }
    }

    /// Returns the service of the data.
    ///
    /// - Parameters:
    ///   - makes: Whether to create a missing folder, or the tables in an empty database.
    ///   - readsAssets: Whether the command reads assets, wherever they are.
    /// - Returns: The service, without a listening server.
    /// - Throws: `CommandFailure` when there is no such data, or its assets cannot be reached.
    func open(makes: Bool = false, readsAssets: Bool = false) async throws -> CloudService {
        switch place {
        case .folder(let path):
            let folder = DataFolder(path: path)
            if try !folder.hasDatabase(), makes {
                try checkNewContainer()
                Console.say("Creating the data folder \(path)")
            }
            return try folder.open(makes: makes, readsAssets: readsAssets)
        case .database(let database):
            if makes, let name = requestedContainer { try Self.check(name) }
            let storages = try await database.open(makes: makes)
            var logger = Logger(label: "cloudkit")
            logger.logLevel = .critical
            var configuration = CloudServer.Configuration()
            configuration.storage = storages.data
            configuration.assets =
                readsAssets
                ? try await database.assets(of: storages) : UnreachedAssets(location: nil)
            return try CloudServer(configuration: configuration, logger: logger).service
        }
    }

    /// Returns the service of the data for a command that writes to it.
    ///
    /// SQLite checks its file first, for a limited time because a check of a large one takes long.
    ///
    /// - Parameter makes: Whether to create a missing folder, or the tables in an empty database.
    /// - Returns: The service, without a listening server.
    /// - Throws: `CommandFailure` when there is no such data, or its file is damaged.
    func openForWriting(makes: Bool = false) async throws -> CloudService {
        let service = try await open(makes: makes)
        guard let damage = await service.damage(foundWithin: .seconds(2)) else { return service }
        throw CommandFailure(
            "\(name)/cloud.sqlite is damaged, so nothing was written to it; stop the server, run "
                + "cloudkit check --repair, and start it again (\(damage))"
        )
    }

    /// Returns the selected container.
    ///
    /// - Parameters:
    ///   - service: The service of the data.
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
                        ? noContainer : "Give --container; \(self.name) has \(found)"
                )
            }
            return name
        }
        if names.contains(name) { return name }
        guard makes else {
            throw CommandFailure(
                unusable:
                    "No container \(name) in \(self.name), which has \(found); --new creates one"
            )
        }
        Console.say("\(name) is a new container of \(self.name)")
        return name
    }

    /// Refuses to create a folder without a container that it can have.
    private func checkNewContainer() throws {
        guard let name = requestedContainer else {
            throw CommandFailure(unusable: noContainer)
        }
        try Self.check(name)
    }

    private static func check(_ container: String) throws {
        guard let problem = ContainerName.problem(container) else { return }
        throw CommandFailure(unusable: "--container: \(problem)")
    }

    private var noContainer: String {
        "\(name) has no container yet; give --new, and --container with the name that the app uses, such "
            + "as iCloud.com.example.app"
    }

    /// The container of the options or the environment; nil for the only one.
    private var requestedContainer: String? {
        container ?? ProcessInfo.processInfo.environment[ConnectionVariables.Name.container]
    }
}
