import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// What clients need to reach a server as one of its users.
struct ServerAccess: Sendable {
    /// A user, and the token with which a client acts for the user.
    struct User: Sendable {
        let name: String
        let recordName: String
        let webAuthToken: String
    }

    let url: String
    let container: String
    let apiToken: String
    let users: [User]

    /// Makes the container, the API token, the users and a token for each of them, as far as they
    /// are not there yet.
    init(
        _ service: CloudService,
        url: String,
        container: String,
        apiToken: String?,
        users names: [String]
    ) async throws {
        self.url = url
        self.container = container
        if let apiToken {
            try await service.addAPIToken(
                apiToken,
                container: container,
                environment: .development
            )
            self.apiToken = apiToken
        } else {
            self.apiToken = try await service.addAPIToken(
                container: container,
                environment: .development
            )
        }
        let existing = try await service.users(container: container)
        var users: [User] = []
        for name in names {
            var user = existing.first { $0.name == name }
            if user == nil { user = try await service.addUser(container: container, name: name) }
            guard let user else { continue }
            let token = try await service.addWebAuthToken(
                user: user,
                apiToken: self.apiToken,
                environment: .development
            )
            users.append(
                User(name: name, recordName: user.userRecordName, webAuthToken: token)
            )
        }
        self.users = users
    }

    /// Makes the client of another device of a user.
    func client(of user: User, transport: any Transport = HTTPTransport()) -> WebClient {
        WebClient(
            url: url,
            container: container,
            environment: .development,
            credentials: WebCredentials(apiToken: apiToken, webAuthToken: user.webAuthToken),
            transport: transport
        )
    }

    /// The settings as variables of a process's environment, for one user.
    func variables(of user: User?) -> [(name: String, value: String)] {
        var variables = [
            ("CLOUDKIT_URL", url), ("CLOUDKIT_CONTAINER", container),
            ("CLOUDKIT_ENVIRONMENT", "development"), ("CLOUDKIT_API_TOKEN", apiToken),
        ]
        if let user { variables.append(("CLOUDKIT_WEB_AUTH_TOKEN", user.webAuthToken)) }
        return variables
    }

    /// The settings as a shell reads them, for one user.
    func environment(of user: User?) -> String {
        variables(of: user).map { "export \($0.name)=\($0.value)\n" }.joined()
    }
}

extension ServiceUser {
    /// Given and family name.
    fileprivate var name: String {
        [givenName, familyName].compactMap(\.self).joined(separator: " ")
    }
}
