public import CloudKit
public import CloudKitTesting

// Actions of users in the settings of their devices.
extension Cloud {
    /// Deletes all custom zones of a user, or these, as data that the user no longer wants.
    public func purgeZones(_ names: [String]? = nil, of user: TestCloud.User) async throws {
        try await cloud.purgeZones(names, of: user)
    }

    /// Deletes all custom zones of a user, or these, because their keys are lost.
    public func resetEncryptedData(
        inZones names: [String]? = nil,
        of user: TestCloud.User
    ) async throws {
        try await cloud.resetEncryptedData(inZones: names, of: user)
    }

    /// Sets the status of a device's account to temporarily unusable, or to usable again.
    public func setAccountStatus(_ status: CKAccountStatus, on device: CKContainer) throws {
        try cloud.setAccountStatus(status, on: device)
    }
}
