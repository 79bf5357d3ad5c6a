import ArgumentParser
import CloudKitWebClient

/// Which database of the container a command works on.
struct DatabaseOptions: ParsableArguments {
    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @Option(help: "public, private or shared; private, or public with a server-to-server key.")
    var database: DatabaseScope?

    /// The database that is meant by a client.
    func scope(_ client: WebClient) -> DatabaseScope {
        database ?? (client.credentials.serverKey == nil ? .private : .public)
    }
}
