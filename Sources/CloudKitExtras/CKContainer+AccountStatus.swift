#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit

extension CKContainer {
    /// Sets the account status, for tests and for programs that learn of it elsewhere, because a
    /// Linux process has no system that reports it.
    ///
    /// ```swift
    /// try container.setAccountStatus(.temporarilyUnavailable)
    /// // … requests fail with accountTemporarilyUnavailable
    /// try container.setAccountStatus(.available)
    /// ```
    ///
    /// Posts `.CKAccountChanged`, and sync engines wait until the account is available again.
    /// Requests fail without reaching the service: with `managedAccountRestricted` when the account
    /// is restricted, where `userRecordID()` throws `notAuthenticated`; with
    /// `accountTemporarilyUnavailable` when it is temporarily unavailable or not determined.
    /// `noAccount` signs the user out, and a subsequent `available` signs the same user in again.
    /// The status holds until it is set again or a user signs in.
    ///
    /// - Throws: `CKError.badContainer` when no service is configured, and
    ///   `CKError.notAuthenticated` for `available` if no user was signed in before.
    public func setAccountStatus(_ status: CKAccountStatus) throws {
        try connection.setAccountStatus(status)
    }
}
#endif
