public import CloudKit
import CloudKitExtras

extension TestCloud {
    /// Signs a user in on a device, in the place of whoever is signed in there.
    ///
    /// ```swift
    /// let phone = try await cloud.device(of: ada)
    /// try await cloud.signIn(bob, on: phone)
    /// ```
    ///
    /// `.CKAccountChanged` is posted, and the device's sync engines report the change.
    ///
    /// - Parameters:
    ///   - user: Who uses the device from now on.
    ///   - device: A container that `device(of:)` made.
    /// - Throws: When the cloud's storage fails.
    public func signIn(_ user: User, on device: CKContainer) async throws {
        let client = try await client(of: user)
        guard let token = client.credentials.webAuthToken else { return }
        try device.signIn(webAuthToken: token)
    }

    /// Signs out whoever is signed in on a device.
    ///
    /// `.CKAccountChanged` is posted, and the device's sync engines report the change.
    ///
    /// - Throws: `CKError.badContainer` for a container that reaches no service.
    public func signOut(of device: CKContainer) throws {
        try device.signOut()
    }

    /// Makes the account of a device unusable for now, or usable again.
    ///
    /// ```swift
    /// try cloud.setAccountStatus(.temporarilyUnavailable, on: phone)
    /// #expect(try await phone.accountStatus() == .temporarilyUnavailable)
    /// try cloud.setAccountStatus(.available, on: phone)
    /// ```
    ///
    /// `.CKAccountChanged` is posted. Other devices of the user are not concerned: for those there
    /// are faults with the user's name, such as `.nativeError(.accountTemporarilyUnavailable)`.
    ///
    /// - Parameters:
    ///   - status: What `accountStatus()` says from now on. While it is `restricted`, requests fail
    ///     with `managedAccountRestricted`; while it is `temporarilyUnavailable` or
    ///     `couldNotDetermine`, with `accountTemporarilyUnavailable`. `noAccount` signs out.
    ///   - device: A container that `device(of:)` made.
    /// - Throws: `CKError.badContainer` for a container that reaches no service.
    public func setAccountStatus(_ status: CKAccountStatus, on device: CKContainer) throws {
        try device.setAccountStatus(status)
    }
}
