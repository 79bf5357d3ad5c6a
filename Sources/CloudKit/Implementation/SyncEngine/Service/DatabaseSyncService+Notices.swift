import Foundation

extension DatabaseSyncService {
    func subscribe(_ subscriptionID: CKSubscription.ID?) async throws(CKError) -> SyncAnswer {
        throw CKError(.internalError, message: "Subscriptions are not supported yet")
    }

    func notices() -> AsyncStream<SyncNotice> {
        AsyncStream { $0.finish() }
    }
}
