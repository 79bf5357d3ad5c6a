import ArgumentParser
import CloudKitWebClient
import Foundation

/// Where a command's container is and who asks; what is not given comes from `CLOUDKIT_…`.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "The server's address; CLOUDKIT_URL, or Apple's service.")
    var url: String?

    @Option(help: "The container; CLOUDKIT_CONTAINER.")
    var container: String?

    @Option(help: "development or production; CLOUDKIT_ENVIRONMENT, or development.")
    var environment: ServiceEnvironment?

    @Option(help: "The app's token; CLOUDKIT_API_TOKEN.")
    var apiToken: String?

    @Option(help: "The user's token; CLOUDKIT_WEB_AUTH_TOKEN.")
    var webAuthToken: String?

    @Option(help: "The identifier of a server-to-server key; CLOUDKIT_KEY_ID.")
    var keyID: String?

    @Option(help: "The file of that key's private half; CLOUDKIT_PRIVATE_KEY_FILE.")
    var privateKeyFile: String?

    /// The client that the options and the environment describe.
    ///
    /// - Throws: `ConnectionVariables.Incomplete`.
    func client() throws -> WebClient {
        var client = try ConnectionVariables(variables).client()
        // A command is waited for: what the service asks for is honoured, what is not there is
        // soon known.
        client.repetition = Repetition(attempts: 4, delay: 0.2, longestDelay: 5)
        return client
    }

    /// The variables of the process with the options over them.
    private var variables: [String: String] {
        typealias Name = ConnectionVariables.Name
        var variables = ProcessInfo.processInfo.environment
        // The environment's credentials of the other kind are not meant.
        if apiToken != nil || webAuthToken != nil, keyID == nil { variables[Name.keyID] = nil }
        if keyID != nil, apiToken == nil, webAuthToken == nil {
            for name in [Name.apiToken, Name.webAuthToken, Name.webAuthTokenFile] {
                variables[name] = nil
            }
        }
        if webAuthToken != nil { variables[Name.webAuthTokenFile] = nil }
        let given = [
            Name.url: url, Name.container: container, Name.environment: environment?.rawValue,
            Name.apiToken: apiToken, Name.webAuthToken: webAuthToken, Name.keyID: keyID,
            Name.privateKeyFile: privateKeyFile,
        ]
        for case (let name, let value?) in given { variables[name] = value }
        return variables
    }
}
