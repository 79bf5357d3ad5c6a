import ArgumentParser
import CloudKitWebClient

/// The database of the container that a command works on.
struct DatabaseOptions: ParsableArguments {
    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @Option(help: "public, private or shared; private, or public with a server-to-server key.")
    var database: DatabaseScope?

    /// Returns the selected database for a client.
    func scope(_ client: WebClient) -> DatabaseScope {
        database ?? (client.credentials.serverKey == nil ? .private : .public)
    }
}
