import CloudKitServerCore
import CloudKitWire

// What a user does to an app's data in the settings of a device, where the app cannot see it.
extension TestCloud {
    /// Deletes zones as a user does who deletes the app's data in the settings.
    ///
    /// ```swift
    /// try await cloud.purgeZones(of: ada)
    /// ```
    ///
    /// Until such a zone is made again, requests about it fail with `userDeletedZone`. What is
    /// fetched of the database's changes, by sync engines too, gives the reason `purged`.
    ///
    /// - Parameters:
    ///   - names: The zones; all custom zones of the user unless given.
    ///   - user: Whose private database it is.
    /// - Throws: When there is no such zone, or the cloud's storage fails; nothing is changed then.
    public func purgeZones(_ names: [String]? = nil, of user: User) async throws {
        try await service.deleteZones(
            names,
            of: user.user,
            environment: .development,
            because: .purged
        )
    }

    /// Deletes zones as a user does who resets the encrypted data, because its keys are lost.
    ///
    /// Until such a zone is made again, requests about it fail with `zoneNotFound`; `userInfo` has
    /// `CKErrorUserDidResetEncryptedDataKey`. What is fetched of the database's changes, by sync
    /// engines too, gives the reason `encryptedDataReset`.
    ///
    /// - Parameters:
    ///   - names: The zones; all custom zones of the user unless given.
    ///   - user: Whose private database it is.
    /// - Throws: When there is no such zone, or the cloud's storage fails; nothing is changed then.
    public func resetEncryptedData(inZones names: [String]? = nil, of user: User) async throws {
        try await service.deleteZones(
            names,
            of: user.user,
            environment: .development,
            because: .encryptedDataReset
        )
    }
}
