import ArgumentParser
import CloudKitServerCore

/// The data folder of a server that a command administers.
struct DataOptions: ParsableArguments {
    @Option(help: "The server's folder.")
    var data = "cloudkit-data"

    @Option(help: "The container; CLOUDKIT_CONTAINER, or the only one in the folder.")
    var container: String?

    @Flag(help: "Create the folder and the container if they do not exist.")
    var new = false

    private var folder: DataFolder { DataFolder(path: data, container: container) }

    /// Returns whether the folder has yet to be created, and will be.
    func createsFolder() throws -> Bool { try new && !folder.hasDatabase() }

    /// Returns the folder's service; see `DataFolder.open(makes:)`.
    func open() throws -> CloudService { try folder.open(makes: new) }

    /// Returns the folder's service for a command that writes to it; see
    /// `DataFolder.openForWriting(makes:)`.
    ///
    /// - Parameter isDryRun: Whether nothing is written, so that nothing is created or checked either.
    /// - Returns: The service, without a listening server.
    /// - Throws: `CommandFailure` when there is no such folder, or its database is damaged.
    func openForWriting(isDryRun: Bool = false) async throws -> CloudService {
        isDryRun ? try folder.open() : try await folder.openForWriting(makes: new)
    }

    /// Returns the selected container; see `DataFolder.containerName(_:makes:)`.
    func containerName(_ service: CloudService) async throws -> String {
        try await folder.containerName(service, makes: new)
    }
}
