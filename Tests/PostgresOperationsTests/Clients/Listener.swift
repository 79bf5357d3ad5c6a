#if PostgreSQL
import CloudKitWebClient
import Foundation
import ServerFixtures
import Synchronization

/// A client that waits for notifications all the time, and begins again whenever a wait ends.
final class Listener: Sendable {
    private let client: WebClient
    private let url: String
    private let state = Mutex((count: 0, ends: 0))

    /// The number of notifications that came.
    var count: Int { state.withLock { $0.count } }
    /// The number of waits that ended without one.
    var ends: Int { state.withLock { $0.ends } }

    /// Subscribes to all changes of a user's private database.
    init(_ door: Door, url: String) async throws {
        client = door.client(url, retrying: .never)
        _ = try await door.callUntilDone(
            "subscriptions/modify",
            [
                "operations": [
                    [
                        "operationType": "create",
                        "subscription": ["subscriptionID": "all", "subscriptionType": "database"],
                    ]
                ]
            ],
            node: 0
        )
        self.url = try await client.createToken().webcourierURL
    }

    /// Waits until it is cancelled.
    func listen() async {
        while !Task.isCancelled {
            do {
                if try await client.nextNotification(at: url) != nil {
                    state.withLock { $0.count += 1 }
                } else {
                    state.withLock { $0.ends += 1 }
                }
            } catch {
                // The node has gone; the next wait is at another one.
                state.withLock { $0.ends += 1 }
                await Task.yield()
            }
        }
    }
}
#endif
