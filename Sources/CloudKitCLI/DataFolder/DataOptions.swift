import ArgumentParser
import CloudKitServerCore

/// The data folder of a server that a command administers.
struct DataOptions: ParsableArguments {
    @Option(help: "The server's folder.")
    var data = "cloudkit-data"

    @Option(help: "The container; CLOUDKIT_CONTAINER, or the only one in the folder.")
    var container: String?

    private var folder: DataFolder { DataFolder(path: data, container: container) }

    /// The folder's service; see `DataFolder.open(makes:)`.
    func open(makes: Bool = false) throws -> CloudService { try folder.open(makes: makes) }

    /// The container that is meant; see `DataFolder.containerName(_:makes:)`.
    func containerName(_ service: CloudService, makes: Bool = false) async throws -> String {
        try await folder.containerName(service, makes: makes)
    }
}
