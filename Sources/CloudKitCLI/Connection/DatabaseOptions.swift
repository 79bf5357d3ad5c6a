import ArgumentParser
import CloudKitWebClient

/// Options that select a database of the container.
protocol DatabaseSelection {
    var database: DatabaseScope? { get }
}

extension DatabaseSelection {
    /// Returns the selected database for a client.
    func scope(_ client: WebClient) -> DatabaseScope {
        database ?? (client.credentials.serverKey == nil ? .private : .public)
    }
}

/// The database of the container that a command works on.
struct DatabaseOptions: ParsableArguments, DatabaseSelection {
    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @Option(help: .database)
    var database: DatabaseScope?
}
