import CloudKitWebClient
import CloudKitWire
import Foundation

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
        guard let apiToken = variables[Variable.apiToken] else {
            return incomplete("CLOUDKIT_API_TOKEN is not set")
        }
        guard let container = container ?? variables[Variable.container] else {
            return incomplete("CLOUDKIT_CONTAINER is not set")
        }
        let name = variables[Variable.environment] ?? ServiceEnvironment.development.rawValue
        guard let environment = ServiceEnvironment(rawValue: name) else {
            return incomplete("CLOUDKIT_ENVIRONMENT is \(name), not development or production")
        }
        let credentials = WebCredentials(
            apiToken: apiToken,
            webAuthToken: variables[Variable.webAuthToken]
        )
        return CloudConnection(
            client: WebClient(
                url: variables[Variable.url] ?? WebClient.appleURL,
                container: container,
                environment: environment,
                credentials: credentials
            )
        )
    }
}
