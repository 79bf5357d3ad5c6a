import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// The data with which clients reach a server as one of its users.
struct ServerAccess: Sendable {
    /// A user, with the token with which a client acts for the user.
    struct User: Sendable {
        let name: String
        let recordName: String
        let webAuthToken: String
    }

    let url: String
    let container: String
    let apiToken: String
    let users: [User]

    /// Creates the container, the API token, the users and a token for each of them, unless they exist.
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

    /// Returns a client for another device of a user.
    func client(of user: User, transport: any Transport = HTTPTransport()) -> WebClient {
        WebClient(
            url: url,
            container: container,
            environment: .development,
            credentials: WebCredentials(apiToken: apiToken, webAuthToken: user.webAuthToken),
            transport: transport
        )
    }

    /// Returns the settings by variable name, for one user.
    func settings(of user: User?) -> ConnectionFile {
        typealias Name = ConnectionVariables.Name
        return ConnectionFile([
            Name.url: url, Name.container: container,
            Name.environment: ServiceEnvironment.development.rawValue, Name.apiToken: apiToken,
            Name.webAuthToken: user?.webAuthToken,
        ])
    }

    /// Returns the settings in a shell's syntax, for one user.
    func environment(of user: User?) -> String { settings(of: user).text + "\n" }
}

extension ServiceUser {
    /// The user's given and family name.
    fileprivate var name: String {
        [givenName, familyName].compactMap(\.self).joined(separator: " ")
    }
}
