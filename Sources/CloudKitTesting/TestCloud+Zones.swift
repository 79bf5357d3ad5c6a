import CloudKitServerCore
import CloudKitWire

// A user's actions in the settings of a device, outside the app's sight.
extension TestCloud {
    /// Deletes zones as if the user had deleted the app's data in the settings.
    ///
    /// ```swift
    /// try await cloud.purgeZones(of: ada)
    /// ```
    ///
    /// Until a purged zone is created again, requests about it fail with `userDeletedZone`. Fetched
    /// database changes, including those of sync engines, have the reason `purged`.
    ///
    /// - Parameters:
    ///   - names: The zones; by default all custom zones of the user.
    ///   - user: The owner of the private database.
    /// - Throws: An error when there is no such zone, or the cloud's storage fails; nothing changes
    ///   then.
    public func purgeZones(_ names: [String]? = nil, of user: User) async throws {
        try await service.deleteZones(
            names,
            of: user.user,
            environment: .development,
            because: .purged
        )
    }

    /// Deletes zones as if the user had reset the encrypted data because its keys are lost.
    ///
    /// Until a deleted zone is created again, requests about it fail with `zoneNotFound`;
    /// `userInfo` has `CKErrorUserDidResetEncryptedDataKey`. Fetched database changes, including
    /// those of sync engines, have the reason `encryptedDataReset`.
    ///
    /// - Parameters:
    ///   - names: The zones; by default all custom zones of the user.
    ///   - user: The owner of the private database.
    /// - Throws: An error when there is no such zone, or the cloud's storage fails; nothing changes
    ///   then.
    public func resetEncryptedData(inZones names: [String]? = nil, of user: User) async throws {
        try await service.deleteZones(
            names,
            of: user.user,
            environment: .development,
            because: .encryptedDataReset
        )
    }
}
