public import CloudKit
public import CloudKitTesting

// What users do in the settings of their devices.
extension Cloud {
    /// Deletes all custom zones of a user, or these, as data that the user does not want any more.
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

    /// Makes the account of a device unusable for now, or usable again.
    public func setAccountStatus(_ status: CKAccountStatus, on device: CKContainer) throws {
        try cloud.setAccountStatus(status, on: device)
    }
}
