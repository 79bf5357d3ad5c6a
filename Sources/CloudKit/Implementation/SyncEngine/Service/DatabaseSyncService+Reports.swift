import CloudKitWebClient
import Foundation
import Synchronization

extension DatabaseSyncService {
    /// The name of the subscription that engines create, one for each database.
    private static let subscriptionName = "CKSyncEngine"

    /// Creates the subscription by which the service reports changes, or finds it.
    func subscribe(_ subscriptionID: CKSubscription.ID?) async throws(CKError) -> SyncResponse {
        let name = subscriptionID ?? Self.subscriptionName
        if case .success? = try await requests.fetchSubscriptions([name])[name] {
            return .subscribed(name)
        }
        let subscription = CKDatabaseSubscription(subscriptionID: name)
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        let results = try await requests.modifySubscriptions(saving: [subscription], deleting: [])
        if case .failure(let error)? = results.saveResults[name] { throw CKError(any: error) }
        return .subscribed(name)
    }

    package func pushes() -> AsyncStream<Void> {
        AsyncStream { continuation in
            let news = requests.connection.sharingChanges
            let forget = requests.scope == .shared ? news.observe { continuation.yield() } : nil
            // The end of the stream cancels the task.
            let courier = Task(executorPreference: environment.executor) { @concurrent in
                await follow(continuation)
            }
            continuation.onTermination = { _ in
                courier.cancel()
                forget?()
            }
        }
    }

    package func accountChanges() -> AsyncStream<Void> {
        AsyncStream { continuation in
            let connection = requests.connection
            let last = Mutex(connection.accountEdition)
            let observer = Observer { _ in
                // The notification concerns the whole process; sign-ins of other containers have no
                // effect here.
                let edition = connection.accountEdition
                let isNews = last.withLock { last in
                    defer { last = edition }
                    return last != edition
                }
                if isNews { continuation.yield() }
            }
            continuation.onTermination = { _ in observer.remove() }
        }
    }

    /// Waits at the courier for one push after the other, until it is cancelled.
    private func follow(_ continuation: AsyncStream<Void>.Continuation) async {
        var failures = 0
        while !Task.isCancelled {
            do {
                var client = try requests.connection.client.begun()
                // The same address after every interruption; the engines of one process do not
                // share it.
                client.clientID = clientID
                let place = try await client.createToken(clientID: clientID).webcourierURL
                // Pushes from before the address existed, or lost on the way, reached nobody.
                continuation.yield()
                while true {
                    let push = try await client.nextNotification(at: place)
                    failures = 0
                    if push != nil { continuation.yield() }
                }
            } catch {
                failures += 1
                let wait = reconnection.delay(
                    afterFailures: failures,
                    // A busy service reports when to try again.
                    retryAfter: (error as? WebClientError)?.retryAfter,
                    chance: environment.chance()
                )
                // Only a cancellation ends the wait early, and then the loop.
                try? await environment.sleep(environment.now() + wait)
            }
        }
    }

    /// A minute at most: a restored connection is noticed soon enough.
    private var reconnection: RetryPolicy {
        var policy = environment.timing.retryPolicy
        policy.longestDelay = min(policy.longestDelay, 60)
        return policy
    }

    /// An observer of the notification center, which any thread may remove.
    private struct Observer: @unchecked Sendable {
        // @unchecked Sendable because the token is only passed back to the center, which is safe.
        private let token: any NSObjectProtocol

        init(_ observe: @escaping @Sendable (Notification) -> Void) {
            token = NotificationCenter.default.addObserver(
                forName: .CKAccountChanged,
                object: nil,
                queue: nil,
                using: observe
            )
        }

        func remove() { NotificationCenter.default.removeObserver(token) }
    }
}
