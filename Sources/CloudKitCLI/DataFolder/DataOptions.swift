import ArgumentParser
import CloudKitServerCore

/// The data of a server that a command works on as a whole.
struct DataPlaceOptions: ParsableArguments {
    @Option(help: "The server's folder; cloudkit-data by default.")
    var data: String?

    @Option(
        help:
            "The servers' PostgreSQL database instead, such as postgres://user@host/name; CLOUDKIT_DATABASE."
    )
    var database: String?

    /// The selected data.
    var selected: ServerData {
        get throws { try ServerData(folder: data, database: database) }
    }
}

/// The data of a server that a command administers.
struct DataOptions: ParsableArguments {
    @Option(help: "The server's folder; cloudkit-data by default.")
    var data: String?

    @Option(
        help: """
            The servers' PostgreSQL database instead, such as postgres://user@host/name; CLOUDKIT_DATABASE. \
            PGPASSWORD, or the file of PGPASSFILE, has its password.
            """
    )
    var database: String?

    @Option(help: "The container; CLOUDKIT_CONTAINER, or the only one in the data.")
    var container: String?

    @Flag(help: "Create the folder, or the tables, and the container if they do not exist.")
    var new = false

    /// The selected data.
    private var selected: ServerData {
        get throws { try ServerData(folder: data, database: database, container: container) }
    }

    /// The selected folder; nil for a database.
    var folder: String? {
        get throws {
            guard case .folder(let path) = try selected.place else { return nil }
            return path
        }
    }

    /// Returns whether the folder has yet to be created, and will be.
    func createsFolder() throws -> Bool {
        guard new, let path = try folder else { return false }
        return try !DataFolder(path: path).hasDatabase()
    }

    /// Returns the service of the data; see `ServerData.open(makes:readsAssets:)`.
    func open() async throws -> CloudService { try await selected.open(makes: new) }

    /// Returns the service of the data for a command that writes to it; see
    /// `ServerData.openForWriting(makes:)`.
    ///
    /// - Parameter isDryRun: Whether nothing is written, so that nothing is created or checked either.
    /// - Returns: The service, without a listening server.
    /// - Throws: `CommandFailure` when there is no such data, or its file is damaged.
    func openForWriting(isDryRun: Bool = false) async throws -> CloudService {
        isDryRun ? try await selected.open() : try await selected.openForWriting(makes: new)
    }

    /// Returns the selected container; see `ServerData.containerName(_:makes:)`.
    func containerName(_ service: CloudService) async throws -> String {
        try await selected.containerName(service, makes: new)
    }
}
