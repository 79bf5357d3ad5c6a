import CloudKit
import Foundation
import GRDB
import Synchronization

extension CloudStore {
    /// The maximum number of rounds of one sync; each but the last shortens the outbox.
    private static let roundLimit = 50

    /// Fetches and sends all changes, and returns a summary.
    ///
    /// Returns immediately when the app paused the store, there is no connection, or another store
    /// syncs the file. Quarantined records are no error: the status lists them. Nor is a full
    /// storage: the summary reports it, and the rows wait.
    ///
    /// - Returns: The summary of the sync.
    /// - Throws: A `CKError` when the server cannot be reached or refuses everything; a
    ///   ``CloudStoreError`` when the store waits for a decision of the app; an error of the
    ///   database.
    @discardableResult
    public func sync() async throws -> SyncSummary {
        guard !state.withLock({ $0.isPaused }), configuration.isConnected() else {
            return SyncSummary()
        }
        guard try await engine() != nil else { return SyncSummary() }
        try await retryQuarantinedEdits()
        do {
            var summary = try await syncPublic()
            for side in state.withLock({ $0.sides }) {
                let reporter = side.channel.context.reporter
                _ = reporter.takeSummary()
                try await run(side.engine, side.channel)
                let part = reporter.takeSummary()
                summary.received += part.received
                summary.saved += part.saved
                summary.deleted += part.deleted
                summary.isOverQuota = summary.isOverQuota || part.isOverQuota
                if let failure = side.channel.failure { throw failure }
            }
            try await file.writer.write { database in
                try database.run(
                    "UPDATE grdb_cloudkit_control SET lastSync = \(ControlTables.now)"
                )
            }
            state.withLock { $0.lastFailure = nil }
            statusChanged()
            configuration.onEvent(.finished(summary))
            return summary
        } catch let error as CKError {
            state.withLock { $0.lastFailure = error.localizedDescription }
            statusChanged()
            configuration.onEvent(.failed(error))
            throw error
        }
    }

    private func run(_ engine: CKSyncEngine, _ channel: EngineChannel) async throws {
        try await engine.fetchChanges()
        if let suspect = channel.fetches.takeSuspect() {
            try await engine.fetchChanges()
            try await channel.fetches.confirmZone(suspect)
        }
        try await channel.fetches.finishInterrupted()
        try await channel.context.fillLacking()
        var before: [Int64] = []
        for _ in 0..<Self.roundLimit {
            try await checkBlocks(channel)
            _ = channel.sender.takeNeedsFetch()
            do {
                try await engine.sendChanges()
            } catch let error as CKError where Self.isPerItem(error) {
                // The channel handled each of the failures; the next round sends again where necessary.
            }
            try await checkBlocks(channel)
            if let error = channel.sender.unanswered { throw error }
            if channel.sender.takeNeedsFetch() { try await engine.fetchChanges() }
            let after = try await file.progress()
            if after.first == 0 || after == before { return }
            before = after
        }
    }

    private func checkBlocks(_ channel: EngineChannel) async throws {
        if let failure = channel.failure { throw failure }
        switch try await file.control().blocked {
        case nil: return
        case .noAccount:
            throw CKError(
                .notAuthenticated,
                userInfo: [NSLocalizedDescriptionKey: "Nobody is signed in; the rows wait"]
            )
        case .accountSwitched:
            throw CloudStoreError(
                .blocked,
                "The signed-in user is not the owner of these rows; open another file "
                    + "for that user, or call adoptAccount"
            )
        case .purged:
            throw CloudStoreError(
                .blocked,
                "The user deleted the app's data on the server; the rows are still here, and "
                    + "uploadEverything sends them again"
            )
        case .zoneDestroyed:
            throw CloudStoreError(
                .blocked,
                "The zone was destroyed; uploadEverything creates it again"
            )
        }
    }

    /// Returns whether an error concerns items of a batch, which the channel handles one by one.
    private static func isPerItem(_ error: CKError) -> Bool {
        switch error.code {
        case .partialFailure, .serverRecordChanged, .unknownItem, .zoneNotFound, .userDeletedZone,
            .batchRequestFailed, .limitExceeded, .quotaExceeded, .invalidArguments,
            .referenceViolation, .permissionFailure, .constraintViolation, .serverRejectedRequest,
            .assetFileNotFound, .assetFileModified:
            true
        default: false
        }
    }

    /// Retries quarantined changes, once for each sync that the app requests.
    private func retryQuarantinedEdits() async throws {
        try await file.writer.write { database in
            try database.run(
                "UPDATE grdb_cloudkit_outbox SET problem = NULL WHERE problem IS NOT NULL"
            )
        }
    }

    /// Syncs until no change waits in either direction.
    ///
    /// - Throws: The errors of ``sync()``; a ``CloudStoreError`` with the code `unsettled` when a
    ///   change depends on someone else, such as a record that the server refuses.
    public func settled() async throws {
        try await sync()
        let status = try await status
        guard !status.isSettled else { return }
        let reasons = status.quarantined.map(\.reason).joined(separator: "; ")
        throw CloudStoreError(
            .unsettled,
            "\(status.waitingToSend) rows wait to be sent, \(status.waitingForParents) records to be "
                + "shown, \(status.quarantined.count) are quarantined"
                + (reasons.isEmpty ? "" : ": \(reasons)")
                + (status.obstacle.map { " (\($0))" } ?? "")
        )
    }
}
