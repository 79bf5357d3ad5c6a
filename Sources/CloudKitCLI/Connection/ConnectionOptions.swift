import ArgumentParser
import CloudKitWebClient
import Foundation

/// The container and the credentials of a command; missing options come from `CLOUDKIT_…`.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "The server's address; CLOUDKIT_URL, or Apple's service.")
    var url: String?

    @Option(help: "The container; CLOUDKIT_CONTAINER.")
    var container: String?

    @Option(help: .environment)
    var environment: ServiceEnvironment?

    @Option(help: "The app's token; CLOUDKIT_API_TOKEN.")
    var apiToken: String?

    @Option(help: "The user's token; CLOUDKIT_WEB_AUTH_TOKEN.")
    var webAuthToken: String?

    @Option(help: "The identifier of a server-to-server key; CLOUDKIT_KEY_ID.")
    var keyID: String?

    @Option(help: "The file of its private key; CLOUDKIT_PRIVATE_KEY_FILE.")
    var privateKeyFile: String?

    func validate() throws {
        if let container, let problem = ContainerName.problem(container) {
            throw ValidationError("--container: \(problem)")
        }
        // A failed connection to an address without a scheme would print the address.
        guard let url else { return }
        guard Self.isAddress(url) else {
            throw ValidationError(
                "--url: that is not an address, which has a scheme and a host, such as "
                    + "http://127.0.0.1:8787"
            )
        }
    }

    /// Refuses an invalid address in the environment, without printing it.
    private func checkAddress() throws {
        let address = variables[ConnectionVariables.Name.url]
        guard let address, !Self.isAddress(address) else { return }
        throw CommandFailure(
            unusable: "CLOUDKIT_URL is not an address, which has a scheme and a host, such as "
                + "http://127.0.0.1:8787"
        )
    }

    /// Returns whether a text is the address of a server.
    static func isAddress(_ text: String) -> Bool {
        guard let components = URLComponents(string: text), let host = components.host else {
            return false
        }
        return ["http", "https"].contains(components.scheme) && !host.isEmpty
    }

    /// The name by which servers recognize all commands together as one device.
    static let clientID = "cloudkit"

    /// Returns the client that the options and the environment describe.
    ///
    /// - Throws: `ConnectionVariables.Incomplete`.
    func client() throws -> WebClient {
        try checkAddress()
        var client = try ConnectionVariables(variables).client()
        client.clientID = Self.clientID
        // A user waits for the command: requested delays are respected, and an unreachable service
        // is reported soon.
        client.retryPolicy = RetryPolicy(attempts: 4, delay: 0.2, longestDelay: 5)
        return client
    }

    /// Returns the client of the same container with another web auth token, or with none.
    ///
    /// - Throws: `ConnectionVariables.Incomplete`.
    func client(webAuthToken: String?) throws -> WebClient {
        typealias Name = ConnectionVariables.Name
        var variables = variables
        for name in [Name.webAuthTokenFile, Name.keyID] { variables[name] = nil }
        variables[Name.webAuthToken] = webAuthToken
        try checkAddress()
        var client = try ConnectionVariables(variables).client()
        client.clientID = Self.clientID
        return client
    }

    /// The variables of the process, overridden by the options.
    var variables: [String: String] {
        typealias Name = ConnectionVariables.Name
        var variables = ProcessInfo.processInfo.environment
        // The environment's credentials of the other kind do not apply.
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
