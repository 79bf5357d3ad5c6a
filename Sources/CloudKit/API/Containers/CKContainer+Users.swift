extension CKContainer {
    /// Looks up users by email address; the result has no entry for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentities(
        forEmailAddresses emails: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await requests.identities(by: emails) { .init(emailAddress: $0) }
    }

    /// Looks up users by email address; the result has no entry for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    public func discoverUserIdentities(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.identities(by: emails) { .init(emailAddress: $0) }
        }
    }

    /// Looks up users by phone number; the result has no entry for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentities(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await requests.identities(by: phoneNumbers) { .init(phoneNumber: $0) }
    }

    /// Looks up users by phone number; the result has no entry for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    public func discoverUserIdentities(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.identities(by: phoneNumbers) { .init(phoneNumber: $0) }
        }
    }

    /// Looks up users by user record; the result has no entry for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: CKUserIdentity] {
        try await requests.identities(by: userRecordIDs) { .init(userRecordID: $0) }
    }

    /// Looks up users by user record; the result has no entry for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    public func discoverUserIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], any Error>) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.identities(by: userRecordIDs) { .init(userRecordID: $0) }
        }
    }

    // MARK: The address book
}

extension ContainerRequests {
    func identity(
        _ info: CKUserIdentity.LookupInfo
    ) async throws(CKError) -> CKUserIdentity? {
        try await identities([info])[info]
    }

    fileprivate func identities<Key: Hashable>(
        by keys: [Key],
        _ info: (Key) -> CKUserIdentity.LookupInfo
    ) async throws(CKError) -> [Key: CKUserIdentity] {
        let found = try await identities(keys.map(info))
        var identities: [Key: CKUserIdentity] = [:]
        for key in keys { identities[key] = found[info(key)] }
        return identities
    }
}
