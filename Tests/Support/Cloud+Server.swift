public import CloudKit
import CloudKitExtras
import CloudKitServerCore
public import CloudKitTesting
import CloudKitWebClient
import Testing

extension Cloud {
    /// Makes all change tokens that were given until now too old.
    public func expireChangeTokens() async throws {
        try await cloud.service.expireChangeTokens(container: cloud.containerIdentifier)
    }

    /// Moves the time of the service forward.
    public func advance(by duration: Duration) { cloud.advance(by: duration) }

    /// Signs a user in on a device.
    public func signIn(_ user: TestCloud.User, on device: CKContainer) async throws {
        try await cloud.signIn(user, on: device)
    }

    /// Signs out whoever is signed in on a device.
    public func signOut(of device: CKContainer) throws {
        try cloud.signOut(of: device)
    }

    /// Lets a program sign its requests with a key; answers the key's identifier.
    ///
    /// - Parameter publicKeyPEM: The public half of the key.
    public func addServerKey(_ publicKeyPEM: String) async throws -> String {
        try await cloud.service.addServerKey(
            publicKey: publicKeyPEM,
            container: cloud.containerIdentifier,
            environment: .development
        )
    }

    /// Makes another device of a user, which works in an environment.
    public func device(
        of user: TestCloud.User,
        in environment: ServiceEnvironment
    ) async throws -> CKContainer {
        let container = cloud.containerIdentifier
        let users = try await cloud.service.users(container: container)
        let known = try #require(users.first { $0.userRecordName == user.recordName })
        let apiToken = try await cloud.service.addAPIToken(
            container: container,
            environment: environment
        )
        let webAuthToken = try await cloud.service.addWebAuthToken(
            user: known,
            apiToken: apiToken,
            environment: environment
        )
        let client = try await client(of: user)
        return CKContainer(
            client: WebClient(
                url: client.url,
                container: container,
                environment: environment,
                credentials: WebCredentials(apiToken: apiToken, webAuthToken: webAuthToken),
                transport: client.transport
            )
        )
    }
}

extension Cloud {
    /// The notifications that wait for a token, oldest first.
    public func notifications(waitingFor token: String) async throws -> [Data] {
        try await cloud.service.notifications(waitingFor: token)
    }
}
