public import CloudKit
import CloudKitExtras

extension TestCloud {
    /// Signs in a user on a device, replacing the device's current user.
    ///
    /// ```swift
    /// let phone = try await cloud.device(of: ada)
    /// try await cloud.signIn(bob, on: phone)
    /// ```
    ///
    /// `.CKAccountChanged` is posted, and the device's sync engines report the change.
    ///
    /// - Parameters:
    ///   - user: The device's new user.
    ///   - device: A container that `device(of:)` created.
    /// - Throws: An error when the cloud's storage fails.
    public func signIn(_ user: User, on device: CKContainer) async throws {
        let client = try await client(of: user)
        guard let token = client.credentials.webAuthToken else { return }
        try device.signIn(webAuthToken: token)
    }

    /// Signs out a device's current user.
    ///
    /// `.CKAccountChanged` is posted, and the device's sync engines report the change.
    ///
    /// - Throws: `CKError.badContainer` for a container that reaches no service.
    public func signOut(of device: CKContainer) throws {
        try device.signOut()
    }

    /// Changes the account status of a device, for example to make the account temporarily
    /// unusable.
    ///
    /// ```swift
    /// try cloud.setAccountStatus(.temporarilyUnavailable, on: phone)
    /// #expect(try await phone.accountStatus() == .temporarilyUnavailable)
    /// try cloud.setAccountStatus(.available, on: phone)
    /// ```
    ///
    /// `.CKAccountChanged` is posted. The user's other devices are unaffected; to affect them all,
    /// use a fault with the user's name, such as `.nativeError(.accountTemporarilyUnavailable)`.
    ///
    /// - Parameters:
    ///   - status: The status that `accountStatus()` returns from now on. While it is `restricted`,
    ///     requests fail with `managedAccountRestricted`; while it is `temporarilyUnavailable` or
    ///     `couldNotDetermine`, with `accountTemporarilyUnavailable`. `noAccount` signs out.
    ///   - device: A container that `device(of:)` created.
    /// - Throws: `CKError.badContainer` for a container that reaches no service.
    public func setAccountStatus(_ status: CKAccountStatus, on device: CKContainer) throws {
        try device.setAccountStatus(status)
    }
}
