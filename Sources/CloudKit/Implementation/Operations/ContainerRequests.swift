import CloudKitWebClient
import CloudKitWire
import Foundation

/// A container's requests about users and shares, as async functions.
struct ContainerRequests: Sendable {
    let connection: CloudConnection
    var settings = RequestSettings()
    /// The sign-in that the work began under; nil for that of each request.
    var signIn: Int?

    typealias ParticipantResults =
        [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>]

    /// Returns the context of a user on the public path, where users and shares are requested.
    private func context() async throws(CKError) -> DatabaseRequests.Context {
        let requests = DatabaseRequests(
            connection: connection,
            scope: .public,
            settings: settings,
            signIn: signIn
        )
        let context = try await requests.context()
        guard context.owners.caller != nil else {
            throw CKError(
                .notAuthenticated,
                message: "People and shares need a signed-in user: a web auth token, from "
                    + "CLOUDKIT_WEB_AUTH_TOKEN or given in code"
            )
        }
        return context
    }

    // MARK: People

    /// Looks up users; the result has no entry for an unknown one.
    func identities(
        _ infos: [CKUserIdentity.LookupInfo]
    ) async throws(CKError) -> [CKUserIdentity.LookupInfo: CKUserIdentity] {
        guard !infos.isEmpty else { return [:] }
        let context = try await context()
        let response = try await native { () throws(WebClientError) in
            try await context.client.discoverUsers(
                DiscoverUsersRequest(lookupInfos: infos.map { $0.wire(context.owners) })
            )
        }
        var found: [CKUserIdentity.LookupInfo: CKUserIdentity] = [:]
        for user in response.users {
            let info = infos.first { $0.finds(user, owners: context.owners) }
            guard let info else { continue }
            found[info] = context.shares.identity(
                ParticipantIdentity(
                    userRecordName: user.userRecordName,
                    nameComponents: user.nameComponents,
                    lookupInfo: user.lookupInfo ?? info.wire
                )
            )
        }
        return found
    }

    /// Looks up people to invite; a person without an account is invited by address.
    func participants(
        _ infos: [CKUserIdentity.LookupInfo]
    ) async throws(CKError) -> ParticipantResults {
        let found = try await identities(infos)
        var results: ParticipantResults = [:]
        for info in infos {
            if let identity = found[info] {
                results[info] = .success(CKShareParticipant(identity))
            } else if let recordID = info.userRecordID {
                results[info] = .failure(
                    CKError(
                        .unknownItem,
                        message: "No user has the record \(recordID.recordName)"
                    )
                )
            } else {
                results[info] = .success(
                    CKShareParticipant(CKUserIdentity(.init(lookupInfo: info)))
                )
            }
        }
        return results
    }

    // MARK: Shares

    typealias MetadataResults = [URL: Result<CKShare.Metadata, any Error>]

    /// Fetches the metadata of the shares that links lead to; the result has an entry for every
    /// link.
    func metadata(
        for urls: [URL],
        fetchRoot: Bool = false,
        rootKeys: [CKRecord.FieldKey]? = nil
    ) async throws(CKError) -> MetadataResults {
        guard !urls.isEmpty else { return [:] }
        let context = try await context()
        let response = try await native { () throws(WebClientError) in
            try await context.client.resolveShares(
                SharesRequest(
                    shortGUIDs: urls.map {
                        SharesRequest.ShortGUID(
                            value: $0.shortGUID,
                            shouldFetchRootRecord: fetchRoot ? true : nil,
                            rootRecordDesiredKeys: fetchRoot ? rootKeys : nil
                        )
                    }
                )
            )
        }
        var results: MetadataResults = [:]
        for (url, result) in zip(urls, response.results) {
            switch result {
            case .failure(let error): results[url] = .failure(CKError(error))
            case .success(let wire):
                results[url] = await context.metadata(wire, shortGUID: url.shortGUID)
            }
        }
        return results
    }

    typealias AcceptanceResults = [CKShare.Metadata: Result<CKShare, any Error>]

    /// Accepts invitations; the result has an entry for each one.
    func accept(_ metadatas: [CKShare.Metadata]) async throws(CKError) -> AcceptanceResults {
        guard !metadatas.isEmpty else { return [:] }
        let context = try await context()
        let response = try await native { () throws(WebClientError) in
            try await context.client.acceptShares(
                SharesRequest(shortGUIDs: metadatas.map { .init(value: $0.details.shortGUID) })
            )
        }
        var results: AcceptanceResults = [:]
        for (metadata, result) in zip(metadatas, response.results) {
            switch result {
            case .failure(let error): results[metadata] = .failure(CKError(error))
            case .success(let wire):
                let guid = metadata.details.shortGUID
                results[metadata] = await context.metadata(wire, shortGUID: guid).map(\.share)
            }
        }
        // The caller gets the errors; this looks for a success.
        if results.values.contains(where: { (try? $0.get()) != nil }) {
            connection.sharingChanges.post()
        }
        return results
    }
}

extension URL {
    /// The short ID of a share, the last part of its link.
    fileprivate var shortGUID: String { lastPathComponent }
}

extension CKUserIdentityLookupInfo {
    fileprivate func wire(_ owners: OwnerMapping) -> UserIdentity.LookupInfo {
        guard let name = userRecordID?.recordName, name == CKCurrentUserDefaultName else {
            return wire
        }
        return .init(userRecordName: owners.caller)
    }

    /// Returns whether a response's user matches this lookup key.
    fileprivate func finds(_ user: UserIdentity, owners: OwnerMapping) -> Bool {
        let asked = wire(owners)
        if let name = asked.userRecordName { return name == user.userRecordName }
        return asked == user.lookupInfo
    }
}

extension DatabaseRequests.Context {
    /// Returns the target of a link.
    fileprivate func metadata(
        _ wire: ShareMetadata,
        shortGUID: String
    ) async -> Result<CKShare.Metadata, any Error> {
        // Its records are in the shared database, or in the caller's own.
        let scope: CKDatabase.Scope = wire.databaseScope == "PRIVATE" ? .private : .shared
        let context = DatabaseRequests.Context(
            client: client,
            owners: OwnerMapping(scope: scope, caller: owners.caller),
            database: scope.wire,
            files: files
        )
        let home = context.owners.native(wire.zoneID)
        var share = wire.share
        share.shortGUID = share.shortGUID ?? shortGUID
        share.recordType = share.recordType ?? WireRecord.shareType
        let root = wire.rootRecord.map { [ItemResult.success($0)] } ?? []
        let shares = await context.materialize([.success(share)], home: home, assets: .none)
        let roots = await context.materialize(root, home: home, assets: .all)
        return Result {
            guard let share = try shares.first?.get() as? CKShare else {
                throw CKError(.internalError, message: "The server sent no share for \(shortGUID)")
            }
            return CKShareMetadata(
                .init(
                    containerIdentifier: wire.containerIdentifier,
                    share: share,
                    rootRecordID: wire.rootRecordName.flatMap { name in
                        name.isEmpty ? nil : CKRecord.ID(recordName: name, zoneID: home)
                    },
                    rootRecord: try roots.first?.get(),
                    role: wire.participantType?.native ?? .unknown,
                    status: wire.participantStatus?.native ?? .unknown,
                    permission: wire.participantPermission?.native ?? .unknown,
                    ownerIdentity: context.shares.identity(wire.ownerIdentity),
                    shortGUID: shortGUID
                )
            )
        }
    }
}
