import ArgumentParser
import CloudKitServerCore

/// The data folder of a server that a command administers.
struct DataOptions: ParsableArguments {
    @Option(help: "The server's folder.")
    var data = "cloudkit-data"

    @Option(help: "The container; CLOUDKIT_CONTAINER, or the only one in the folder.")
    var container: String?

    @Flag(help: "Make the folder and the container where they are not there yet.")
    var new = false

    private var folder: DataFolder { DataFolder(path: data, container: container) }

    /// The folder's service; see `DataFolder.open(makes:)`.
    ///
    /// - Parameter isDryRun: Whether nothing is to be made, even where `--new` says so.
    /// - Returns: The service, with nothing listening.
    /// - Throws: `CommandFailure` when there is no such folder.
    func open(isDryRun: Bool = false) throws -> CloudService {
        try folder.open(makes: new && !isDryRun)
    }

    /// The container that is meant; see `DataFolder.containerName(_:makes:)`.
    func containerName(_ service: CloudService) async throws -> String {
        try await folder.containerName(service, makes: new)
    }
}
