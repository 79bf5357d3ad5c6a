// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: calls of a container about several links, invitations and people.
struct CKContainerBatchCalls {
    func links(_ container: CKContainer, _ urls: [URL]) async throws -> [CKShare] {
        let results: [URL: Result<CKShare.Metadata, Error>] =
            try await container.shareMetadatas(for: urls)
        var metadatas: [CKShare.Metadata] = []
        for (url, result) in results {
            switch result {
            case .success(let metadata): metadatas.append(metadata)
            case .failure(let error as CKError): _ = (url, error.code == .unknownItem)
            case .failure(let error): throw error
            }
        }
        let accepted: [CKShare.Metadata: Result<CKShare, Error>] =
            try await container.accept(metadatas)
        let first = try metadatas.first.flatMap { try accepted[$0]?.get() }
        _ = first?.url
        return accepted.compactMap { metadata, result in
            metadata.participantStatus == .pending ? nil : try? result.get()
        }
    }

    func linksBack(_ container: CKContainer, _ urls: [URL]) {
        container.fetchShareMetadatas(for: urls) { result in
            switch result {
            case .success(let metadatas):
                let found = metadatas.compactMap { try? $0.value.get() }
                container.accept(found) { result in
                    guard case .success(let shares) = result else { return }
                    for (metadata, share) in shares { _ = (metadata, try? share.get().url) }
                }
            case .failure(let error): _ = error.localizedDescription
            }
        }
        container.fetchShareMetadatas(for: urls, completionHandler: { _ in })
        container.accept([], completionHandler: { result in _ = try? result.get() })
    }

    func participants(_ container: CKContainer, _ people: People) async throws {
        let emails = try await container.shareParticipants(forEmailAddresses: people.emails)
        for (address, participant) in emails { _ = (address.count, try participant.get().role) }
        let phones = try await container.shareParticipants(forPhoneNumbers: people.phones)
        _ = try phones["+49301234"]?.get().permission
        let users = try await container.shareParticipants(forUserRecordIDs: people.recordIDs)
        for (recordID, participant) in users {
            guard case .success(let participant) = participant else { continue }
            _ = (recordID.recordName, participant.userIdentity)
        }
        if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
            let infos = try await container.shareParticipants(for: people.infos)
            for (info, participant) in infos {
                let participant = try participant.get()
                participant.permission = info.emailAddress == nil ? .readOnly : .readWrite
            }
        }
    }

    func participantsBack(_ container: CKContainer, _ share: CKShare, _ people: People) {
        container.fetchShareParticipants(forEmailAddresses: people.emails) { result in
            guard let found = try? result.get() else { return }
            for case .success(let participant) in found.values {
                share.addParticipant(participant)
            }
        }
        container.fetchShareParticipants(forPhoneNumbers: people.phones) { result in
            if case .failure(let error as CKError) = result { _ = error.retryAfterSeconds }
        }
        container.fetchShareParticipants(forUserRecordIDs: people.recordIDs) { _ in }
    }

    @available(*, deprecated)
    func identities(_ container: CKContainer, _ people: People) async throws {
        let emails = try await container.userIdentities(forEmailAddresses: people.emails)
        _ = emails["a@example.com"]?.nameComponents?.givenName
        let phones = try await container.userIdentities(forPhoneNumbers: people.phones)
        _ = phones.values.filter(\.hasiCloudAccount)
        let users = try await container.userIdentities(forUserRecordIDs: people.recordIDs)
        for (recordID, identity) in users { _ = recordID == identity.userRecordID }
        for identity in try await container.allUserIdentitiesFromContacts() {
            _ = identity.contactIdentifiers
        }
        _ = try await container.userIdentity(forPhoneNumber: "1")?.lookupInfo
    }

    @available(*, deprecated)
    func identitiesBack(_ container: CKContainer, _ people: People) {
        container.discoverUserIdentities(forEmailAddresses: people.emails) { result in
            if case .success(let identities) = result { _ = identities.keys.sorted() }
        }
        container.discoverUserIdentities(forPhoneNumbers: people.phones) { result in
            _ = try? result.get().values.first
        }
        container.discoverUserIdentities(forUserRecordIDs: people.recordIDs) { result in
            _ = (try? result.get())?.count
        }
    }

    /// Several simultaneous calls.
    func together(_ container: CKContainer, _ urls: [URL], _ people: People) async throws {
        async let metadatas = container.shareMetadatas(for: urls)
        async let participants = container.shareParticipants(forEmailAddresses: people.emails)
        async let status = container.accountStatus()
        guard try await status == .available else { return }
        _ = try await (metadatas.count, participants.count)
        let shares = try await withThrowingTaskGroup(of: CKShare.self) { group in
            for (_, result) in try await container.shareMetadatas(for: urls) {
                let metadata = try result.get()
                group.addTask { try await container.accept(metadata) }
            }
            return try await group.reduce(into: [CKShare]()) { $0.append($1) }
        }
        _ = shares.map(\.recordID)
    }

    /// From the main actor, and from a function that is not async.
    @MainActor
    func onMain(_ container: CKContainer, _ urls: [URL]) {
        _Concurrency.Task {
            let metadatas = try await container.shareMetadatas(for: urls)
            Self.show(metadatas.values.compactMap { try? $0.get() })
        }
        container.fetchShareMetadatas(for: urls) { result in
            let found = (try? result.get().values.compactMap { try? $0.get() }) ?? []
            Later.onMain { Self.show(found) }
        }
    }

    @MainActor
    private static func show(_ metadatas: [CKShare.Metadata]) { _ = metadatas.map(\.share) }
}

/// The people whom the calls look up.
struct People {
    var emails = ["a@example.com"]
    var phones = ["+49301234"]
    var recordIDs = [CKRecord.ID(recordName: "_ada")]
    var infos = CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["a@example.com"])
}
