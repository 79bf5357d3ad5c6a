import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient

/// The options for new credentials and their output.
struct TokenOptions: ParsableArguments {
    @OptionGroup
    var place: EnvironmentOptions

    @Option(help: "The server's address, as the settings name it.")
    var url = "http://127.0.0.1:8787"

    @Option(name: .customLong("output"), help: "A file for the settings, readable by you only.")
    var file: String?

    @OptionGroup
    var overwriting: OverwriteOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        guard ConnectionOptions.isAddress(url) else {
            throw ValidationError(
                "--url '\(url)' is not an address, which has a scheme and a host, such as "
                    + "http://127.0.0.1:8787"
            )
        }
        if let file, let problem = overwriting.problem(with: file) {
            throw ValidationError(problem)
        }
    }

    /// Prints or writes settings; if that fails, the new credentials in them are revoked, because
    /// nobody knows them.
    func write(
        _ settings: KeyValuePairs<String, String?>,
        new credentials: [String],
        of container: String,
        _ service: CloudService
    ) async throws {
        do {
            try ConnectionFile(settings).write(to: file, output)
        } catch {
            var ids: Set<String> = []
            for text in credentials {
                let found = try await service.credentials(meantBy: text, container: container)
                ids.formUnion(found.map(\.id))
            }
            try await service.revoke(ids, container: container)
            throw error
        }
    }
}
