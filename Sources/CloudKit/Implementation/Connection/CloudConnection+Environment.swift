import CloudKitWebClient
import CloudKitWire
import Foundation
import Synchronization

extension CloudConnection {
    /// The names of the environment variables that say where the process's containers are.
    package enum Variable {
        /// The server's address.
        package static let url = "CLOUDKIT_URL"
        /// The container that `CKContainer.default()` stands for.
        package static let container = "CLOUDKIT_CONTAINER"
        /// Development or production.
        package static let environment = "CLOUDKIT_ENVIRONMENT"
        /// The app's token.
        package static let apiToken = "CLOUDKIT_API_TOKEN"
        /// The user's token.
        package static let webAuthToken = "CLOUDKIT_WEB_AUTH_TOKEN"
        /// The file that keeps the user's token from one run to the next.
        package static let webAuthTokenFile = "CLOUDKIT_WEB_AUTH_TOKEN_FILE"
        /// The identifier of a server-to-server key.
        package static let keyID = "CLOUDKIT_KEY_ID"
        /// The file of the key's private half, in PEM form.
        package static let privateKeyFile = "CLOUDKIT_PRIVATE_KEY_FILE"
    }

    /// Makes the connection that environment variables describe, to a container or, for nil, to the
    /// one that they name.
    package static func environment(
        container: String?,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) -> CloudConnection {
        func incomplete(_ text: String) -> CloudConnection {
            let remedy =
                "set CLOUDKIT_URL, CLOUDKIT_CONTAINER, CLOUDKIT_API_TOKEN and, for a user's own "
                + "data, CLOUDKIT_WEB_AUTH_TOKEN, or give the container a client in code with "
                + "CloudKitExtras"
            return CloudConnection(
                .failure(CKError(.badContainer, message: "\(text); \(remedy)"))
            )
        }
        let credentials: WebCredentials
        switch Self.credentials(variables) {
        case .success(let found): credentials = found
        case .failure(let problem): return incomplete(problem.text)
        }
        guard let container = container ?? variables[Variable.container] else {
            return incomplete("CLOUDKIT_CONTAINER is not set")
        }
        let name = variables[Variable.environment] ?? ServiceEnvironment.development.rawValue
        guard let environment = ServiceEnvironment(rawValue: name) else {
            return incomplete("CLOUDKIT_ENVIRONMENT is \(name), not development or production")
        }
        return CloudConnection(
            client: WebClient(
                url: variables[Variable.url] ?? WebClient.appleURL,
                container: container,
                environment: environment,
                credentials: credentials
            )
        )
    }

    private struct Incomplete: Error {
        let text: String
    }

    /// The credentials that environment variables describe.
    private static func credentials(
        _ variables: [String: String]
    ) -> Result<WebCredentials, Incomplete> {
        if let keyID = variables[Variable.keyID] {
            return key(keyID, file: variables[Variable.privateKeyFile])
        }
        guard let apiToken = variables[Variable.apiToken] else {
            return .failure(Incomplete(text: "CLOUDKIT_API_TOKEN is not set"))
        }
        return .success(
            shared.withLock { shared in
                let identity = [
                    apiToken, variables[Variable.webAuthToken] ?? "",
                    variables[Variable.webAuthTokenFile] ?? "",
                ]
                if let known = shared[identity] { return known }
                let made = tokens(apiToken, variables)
                shared[identity] = made
                return made
            }
        )
    }

    /// All containers of a process that act with the same tokens renew them together.
    private static let shared = Mutex<[[String]: WebCredentials]>([:])

    private static func tokens(
        _ apiToken: String,
        _ variables: [String: String]
    ) -> WebCredentials {
        guard let path = variables[Variable.webAuthTokenFile] else {
            return WebCredentials(
                apiToken: apiToken,
                webAuthToken: variables[Variable.webAuthToken]
            )
        }
        return WebCredentials(
            apiToken: apiToken,
            webAuthToken: variables[Variable.webAuthToken],
            file: WebTokenFile(URL(fileURLWithPath: path))
        )
    }

    private static func key(
        _ keyID: String,
        file: String?
    ) -> Result<WebCredentials, Incomplete> {
        guard let file else {
            return .failure(
                Incomplete(
                    text: "CLOUDKIT_KEY_ID is set, and CLOUDKIT_PRIVATE_KEY_FILE, which names the "
                        + "file of the key's private half, is not"
                )
            )
        }
        do {
            let text = try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8)
            let key = try ServerKey(keyID: keyID, privateKeyPEM: text)
            return .success(WebCredentials(serverKey: key))
        } catch {
            return .failure(
                Incomplete(text: "The file of CLOUDKIT_PRIVATE_KEY_FILE cannot be used: \(error)")
            )
        }
    }
}
