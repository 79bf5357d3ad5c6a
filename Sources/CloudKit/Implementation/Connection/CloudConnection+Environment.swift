package import CloudKitWebClient
import Foundation

extension CloudConnection {
    /// The names of the environment variables that configure the process's containers.
    package typealias Variable = ConnectionVariables.Name

    /// Returns the connection that environment variables describe, to a container or, for nil, to
    /// the one that they name.
    package static func environment(
        container: String?,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) -> CloudConnection {
        do {
            let client = try ConnectionVariables(variables).client(container: container)
            return CloudConnection(client: client)
        } catch {
            let remedy =
                "set CLOUDKIT_URL, CLOUDKIT_CONTAINER, CLOUDKIT_API_TOKEN and, for a user's own "
                + "data, CLOUDKIT_WEB_AUTH_TOKEN; for a server-to-server key CLOUDKIT_KEY_ID and "
                + "CLOUDKIT_PRIVATE_KEY_FILE; or give the container a client in code with "
                + "CloudKitExtras"
            return CloudConnection(
                .failure(CKError(.badContainer, message: "\(error); \(remedy)"))
            )
        }
    }
}
