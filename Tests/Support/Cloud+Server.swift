public import CloudKit
import CloudKitServerCore
public import CloudKitTesting

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
}
