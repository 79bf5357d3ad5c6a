public import CloudKit
import CloudKitExtras
import CloudKitServerCore
public import CloudKitTesting
import CloudKitWebClient
import Testing

extension Cloud {
    /// Expires all change tokens that were issued until now.
    public func expireChangeTokens() async throws {
        try await cloud.service.expireChangeTokens(container: cloud.containerIdentifier)
    }

    /// Advances the time of the service.
    public func advance(by duration: Duration) { cloud.advance(by: duration) }

    /// Signs a user in on a device.
    public func signIn(_ user: TestCloud.User, on device: CKContainer) async throws {
        try await cloud.signIn(user, on: device)
    }

    /// Signs out the user of a device.
    public func signOut(of device: CKContainer) throws {
        try cloud.signOut(of: device)
    }

    /// Registers a key with which a program signs its requests; returns the key's identifier.
    ///
    /// - Parameter publicKeyPEM: The public half of the key.
    public func addServerKey(_ publicKeyPEM: String) async throws -> String {
        try await cloud.service.addServerKey(
            publicKey: publicKeyPEM,
            container: cloud.containerIdentifier,
            environment: .development
        )
    }

    /// Creates another device of a user, which uses an environment.
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
    /// Returns the notifications that wait for a token, oldest first.
    public func notifications(waitingFor token: String) async throws -> [Data] {
        try await cloud.service.notifications(waitingFor: token)
    }
}
