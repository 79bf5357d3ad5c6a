extension CKContainer {
    /// Looks up people to invite, by email address; the result has an entry for every address.
    public func shareParticipants(
        forEmailAddresses emails: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await requests.participants(by: emails) { .init(emailAddress: $0) }
    }

    /// Looks up people to invite, by email address; the result has an entry for every address.
    @preconcurrency
    public func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (
                Result<[String: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participants(by: emails) { .init(emailAddress: $0) }
        }
    }

    /// Looks up people to invite, by phone number; the result has an entry for every number.
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await requests.participants(by: phoneNumbers) { .init(phoneNumber: $0) }
    }

    /// Looks up people to invite, by phone number; the result has an entry for every number.
    @preconcurrency
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (
                Result<[String: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participants(by: phoneNumbers) { .init(phoneNumber: $0) }
        }
    }

    /// Looks up people to invite, by user record; the result has an entry for every record.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        try await requests.participants(by: userRecordIDs) { .init(userRecordID: $0) }
    }

    /// Looks up people to invite, by user record; the result has an entry for every record.
    @preconcurrency
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participants(by: userRecordIDs) { .init(userRecordID: $0) }
        }
    }

    /// Looks up people to invite, by any of these keys; the result has an entry for every key.
    @available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
    public func shareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo]
    ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] {
        try await requests.participants(lookupInfos)
    }
}

extension ContainerRequests {
    func participant(
        _ info: CKUserIdentity.LookupInfo
    ) async throws(CKError) -> CKShare.Participant {
        try await participants([info]).single(info)
    }

    fileprivate func participants<Key: Hashable>(
        by keys: [Key],
        _ info: (Key) -> CKUserIdentity.LookupInfo
    ) async throws(CKError) -> [Key: Result<CKShare.Participant, any Error>] {
        let found = try await participants(keys.map(info))
        var results: [Key: Result<CKShare.Participant, any Error>] = [:]
        for key in keys { results[key] = found[info(key)] }
        return results
    }
}
