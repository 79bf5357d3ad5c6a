#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit

extension CKContainer {
    /// Says that the account can be used or not, in place of the system that a Linux process lacks:
    /// for tests, and for programs that learn of it elsewhere.
    ///
    /// ```swift
    /// try container.setAccountStatus(.temporarilyUnavailable)
    /// // … requests fail with accountTemporarilyUnavailable
    /// try container.setAccountStatus(.available)
    /// ```
    ///
    /// `.CKAccountChanged` is posted, and sync engines wait until the account is there again.
    /// Requests fail and do not reach the service: with `managedAccountRestricted` when the account
    /// is restricted, where `userRecordID()` gives `notAuthenticated`; with
    /// `accountTemporarilyUnavailable` when it is temporarily unavailable or not determined.
    /// `noAccount` signs the user out, and `available` after it signs the same user in again. The status
    /// holds until the next one or the next sign-in.
    ///
    /// - Throws: `CKError.badContainer` when nothing says where the service is, and
    ///   `CKError.notAuthenticated` for `available` where nobody was signed in before.
    public func setAccountStatus(_ status: CKAccountStatus) throws {
        try connection.setAccountStatus(status)
    }
}
#endif
