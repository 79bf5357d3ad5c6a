import CloudKitWebClient
import Foundation

/// A database as an engine's service.
package struct DatabaseSyncService: SyncEngineService {
    private(set) var requests: DatabaseRequests
    /// The settings of the database's own configuration.
    private let settings: OperationSettings
    /// The engine's client ID: it is notified of changes by other engines of its process, but not
    /// of its own.
    let clientID = UUID().uuidString
    /// The environment for the waits between attempts to listen.
    let environment: SyncEngineEnvironment

    package init(_ database: CKDatabase, environment: SyncEngineEnvironment = .live) {
        self.environment = environment
        settings = database.settings
        requests = database.baseRequests
        // The engine itself retries when it found no server, and reports that between the attempts.
        requests.settings.isPatient = false
        requests.settings.clientID = clientID
    }

    package func respond(
        to request: SyncRequest,
        for user: String?,
        in group: CKOperationGroup?
    ) async -> SyncResponse {
        // The user is checked for the same sign-in that the request uses.
        let service = begun(in: group)
        do {
            if let user { try await service.check(user) }
            return try await service.respond(to: request)
        } catch {
            return .failure(error)
        }
    }

    /// Returns the service for one request of the current user, with a group's configuration, which
    /// takes precedence over the database's.
    private func begun(in group: CKOperationGroup?) -> Self {
        var service = self
        service.requests = requests.begun()
        guard let group else { return service }
        service.requests.settings.timeout = group.settings.filled(from: settings).requests.timeout
        return service
    }

    /// Throws unless the user is still signed in, so that no change is sent for another user.
    private func check(_ user: String) async throws(CKError) {
        let name: String?
        do {
            name = try await requests.connection.callerName(requests.client)
        } catch let error where error.code == .managedAccountRestricted {
            // No item was refused: pending changes wait until the engine has been notified too.
            throw CKError(
                .accountTemporarilyUnavailable,
                message: error.localizedDescription,
                cause: error
            )
        }
        guard name == user else {
            throw CKError(.notAuthenticated, message: "The user is no longer signed in")
        }
    }

    private func respond(to request: SyncRequest) async throws(CKError) -> SyncResponse {
        switch request {
        case .identifyUser:
            guard requests.scope != .public else {
                throw CKError(
                    .badDatabase,
                    message: "A sync engine needs a private or shared database; the public one "
                        + "has no change feed"
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
    ) async throws(CKError) -> SyncResponse {
        let page = try await requests.zoneChangePage(
            in: zoneID,
            since: token,
            desiredKeys: nil,
            limit: nil,
            assets: .existing
        ).get()
        // The order of the feed, oldest first.
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
    /// Creates an item's error, which is of this type already, unless there is a bug.
    init(any error: any Error) {
        self = error as? CKError ?? CKError(.internalError, message: "\(error)", cause: error)
    }
}
