#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit

extension CKContainer {
    /// Signs a user in, with a web auth token from the service's sign-in page.
    ///
    /// Everything that shares the container's credentials acts for that user from then on, and
    /// `.CKAccountChanged` is posted.
    ///
    /// - Throws: `CKError.badContainer` when no service is configured.
    public func signIn(webAuthToken: String) throws {
        try connection.signIn(webAuthToken: webAuthToken)
    }

    /// Signs the user out, and posts `.CKAccountChanged`.
    ///
    /// - Throws: `CKError.badContainer` when no service is configured.
    public func signOut() throws {
        try connection.signIn(webAuthToken: nil)
    }
}
#endif
