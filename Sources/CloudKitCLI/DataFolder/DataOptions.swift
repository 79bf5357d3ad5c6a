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

    /// Returns the folder's service; see `DataFolder.open(makes:)`.
    ///
    /// - Parameter isDryRun: Whether nothing is created, even with `--new`.
    /// - Returns: The service, without a listening server.
    /// - Throws: `CommandFailure` when there is no such folder.
    func open(isDryRun: Bool = false) throws -> CloudService {
        try folder.open(makes: new && !isDryRun)
    }

    /// Returns the selected container; see `DataFolder.containerName(_:makes:)`.
    func containerName(_ service: CloudService) async throws -> String {
        try await folder.containerName(service, makes: new)
    }
}
