extension CKContainer {
    // MARK: One person

    /// Finds someone by e-mail address; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? {
        try await requests.identity(.init(emailAddress: email))
    }

    /// Finds someone by e-mail address; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    public func discoverUserIdentity(
        withEmailAddress email: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(emailAddress: email), completionHandler)
    }

    /// Finds someone by telephone number; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        try await requests.identity(.init(phoneNumber: phoneNumber))
    }

    /// Finds someone by telephone number; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(phoneNumber: phoneNumber), completionHandler)
    }

    /// Finds someone by user record; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentity(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKUserIdentity? {
        try await requests.identity(.init(userRecordID: userRecordID))
    }

    /// Finds someone by user record; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(userRecordID: userRecordID), completionHandler)
    }

    private func discover(
        _ info: CKUserIdentity.LookupInfo,
        _ completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        complete({ (result: Result<CKUserIdentity?, any Error>) in
            completionHandler(result.value ?? nil, result.error)
        }) { [requests] () async throws(CKError) in try await requests.identity(info) }
    }

    // MARK: Several people

    /// Finds people by e-mail address; who cannot be found has no entry in the answer.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentities(
        forEmailAddresses emails: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await requests.identities(by: emails) { .init(emailAddress: $0) }
    }

    /// Finds people by e-mail address; who cannot be found has no entry in the answer.
    @available(*, deprecated, message: "Look participants up instead")
    public func discoverUserIdentities(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.identities(by: emails) { .init(emailAddress: $0) }
        }
    }

    /// Finds people by telephone number; who cannot be found has no entry in the answer.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentities(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await requests.identities(by: phoneNumbers) { .init(phoneNumber: $0) }
    }

    /// Finds people by telephone number; who cannot be found has no entry in the answer.
    @available(*, deprecated, message: "Look participants up instead")
    public func discoverUserIdentities(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.identities(by: phoneNumbers) { .init(phoneNumber: $0) }
        }
    }

    /// Finds people by user record; who cannot be found has no entry in the answer.
    @available(*, deprecated, message: "Look participants up instead")
    public func userIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: CKUserIdentity] {
        try await requests.identities(by: userRecordIDs) { .init(userRecordID: $0) }
    }

    /// Finds people by user record; who cannot be found has no entry in the answer.
    @available(*, deprecated, message: "Look participants up instead")
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

    /// Finds people of the address book.
    ///
    /// - Important: There is no address book here: nobody is found.
    @available(*, deprecated, message: "There is no replacement")
    public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] { [] }

    /// Finds people of the address book.
    ///
    /// - Important: There is no address book here: nobody is found.
    @available(*, deprecated, message: "There is no replacement")
    public func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { () async throws(CKError) in [] }
    }
}

extension ContainerRequests {
    fileprivate func identity(
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
