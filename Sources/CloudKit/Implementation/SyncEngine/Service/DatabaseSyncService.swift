import CloudKitWebClient
import Foundation

/// A database as an engine's service.
package struct DatabaseSyncService: SyncEngineService {
    private(set) var requests: DatabaseRequests
    /// What the database's own configuration sets.
    private let settings: OperationSettings
    /// The engine's own name: it hears of what other engines of its process change, and of nothing
    /// that it changed itself.
    let clientID = UUID().uuidString
    /// Where the service waits between attempts to listen.
    let environment: SyncEngineEnvironment

    package init(_ database: CKDatabase, environment: SyncEngineEnvironment = .live) {
        self.environment = environment
        settings = database.settings
        requests = database.anybodysRequests
        // The engine repeats by itself what found no server, and says so between the attempts.
        requests.settings.isPatient = false
        requests.settings.clientID = clientID
    }

    package func answer(
        _ request: SyncRequest,
        for user: String?,
        in group: CKOperationGroup?
    ) async -> SyncAnswer {
        // The user who is found to be the right one is the one who is asked for.
        let service = begun(in: group)
        do {
            if let user { try await service.check(user) }
            return try await service.answer(request)
        } catch {
            return .failure(error)
        }
    }

    /// The service for one request of the user of this moment, under a group's configuration, which
    /// wins over the database's.
    private func begun(in group: CKOperationGroup?) -> Self {
        var service = self
        service.requests = requests.begun()
        guard let group else { return service }
        service.requests.settings.timeout = group.settings.filled(from: settings).requests.timeout
        return service
    }

    /// Sends nothing of one user's on behalf of another.
    private func check(_ user: String) async throws(CKError) {
        let name: String?
        do {
            name = try await requests.connection.callerName(requests.client)
        } catch let error where error.code == .managedAccountRestricted {
            // No item was refused: what is pending waits, until the engine has learnt of it too.
            throw CKError(
                .accountTemporarilyUnavailable,
                message: error.localizedDescription,
                cause: error
            )
        }
        guard name == user else {
            throw CKError(.notAuthenticated, message: "The user who was signed in is not any more")
        }
    }

    private func answer(_ request: SyncRequest) async throws(CKError) -> SyncAnswer {
        switch request {
        case .identifyUser:
            guard requests.scope != .public else {
                throw CKError(
                    .badDatabase,
                    message: "A sync engine needs a private or shared database; the public one "
                        + "keeps no changes"
                )
            }
            return .user(try await requests.connection.callerName(requests.client))
        case .subscribe(let subscriptionID): return try await subscribe(subscriptionID)
        case .databaseChanges(let token):
            let page = try await requests.databaseChanges(since: token, limit: nil)
            return .databaseChanges(
                .init(
                    modifications: page.modifications.map(\.zoneID),
                    deletions: page.deletions,
                    token: page.changeToken,
                    moreComing: page.moreComing
                )
            )
        case .zoneChanges(let zoneID, let token): return try await zoneChanges(zoneID, token)
        case .modifyZones(let saving, let deleting):
            let results = try await requests.modifyZones(saving: saving, deleting: deleting)
            return .modifiedZones(
                .init(
                    saves: results.saveResults.mapValues { $0.mapError(CKError.init(any:)) },
                    deletions: results.deleteResults.mapValues { $0.mapError(CKError.init(any:)) }
                )
            )
        case .modifyRecords(let batch):
            let results = try await requests.modify(
                RecordModification(
                    saving: batch.recordsToSave,
                    deleting: batch.recordIDsToDelete,
                    atomically: batch.atomicByZone
                )
            )
            return .modifiedRecords(
                .init(
                    saves: results.saveResults.mapValues { $0.mapError(CKError.init(any:)) },
                    deletions: results.deleteResults.mapValues { $0.mapError(CKError.init(any:)) }
                )
            )
        }
    }

    private func zoneChanges(
        _ zoneID: CKRecordZone.ID,
        _ token: CKServerChangeToken?
    ) async throws(CKError) -> SyncAnswer {
        let page = try await requests.zoneChangePage(
            in: zoneID,
            since: token,
            desiredKeys: nil,
            limit: nil,
            assets: .existing
        ).get()
        // In the feed's order, oldest first.
        var records: [CKRecord] = []
        var failures: [CKRecord.ID: CKError] = [:]
        for (recordID, result) in page.changed {
            switch result {
            case .success(let record): records.append(record)
            case .failure(let error): failures[recordID] = CKError(any: error)
            }
        }
        return .zoneChanges(
            .init(
                modifications: records,
                deletions: page.deleted,
                failures: failures,
                token: page.token,
                moreComing: page.moreComing
            )
        )
    }
}

extension CKError {
    /// An error of an item, which is of this type already but for bugs.
    init(any error: any Error) {
        self = error as? CKError ?? CKError(.internalError, message: "\(error)", cause: error)
    }
}
