import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Puts notifications into the queues of a user's devices.
struct PushDelivery {
    let environment: StoredEnvironment
    let now: Int64
    let writer: any StorageWriter

    /// Puts notifications into the queues of a user's tokens.
    ///
    /// - Parameters:
    ///   - payloads: The notifications.
    ///   - user: The user whose devices are notified.
    ///   - client: The hash of the name of the client that is not notified; nil for none.
    /// - Returns: The news to announce after the commit.
    /// - Throws: `StorageError`.
    func deliver(
        _ payloads: [PushPayload],
        to user: StoredUser,
        besides client: Data? = nil
    ) throws -> PushNews {
        guard !payloads.isEmpty else { return PushNews() }
        var news = PushNews()
        let directory = PushTokenDirectory()
        let tokens = try directory.tokens(of: user.id, in: environment.id, now: now, writer)
        for (hash, var token) in tokens {
            let registration = token.registrations.first {
                $0.environment == environment.id.rawValue
            }
            if let client, registration?.client == client { continue }
            let badge = token.badge
            // More would be removed from the queue at once.
            for payload in payloads.suffix(PushCommit.queueLimit) {
                if payload.countsBadge { token.badge += 1 }
                try writer.addPush(
                    StoredPush(
                        id: RowID(rawValue: 0),
                        queue: hash,
                        slot: payload.slot,
                        body: payload.data(badge: payload.countsBadge ? token.badge : nil)
                    )
                )
            }
            try writer.removePushes(hash, keepingNewest: PushCommit.queueLimit)
            if token.badge != badge {
                try directory.save(token, hash, writer)
            } else {
                // Whoever registers the token meanwhile must not get the items of this user.
                try directory.requireUnchanged(hash, writer)
            }
            news.queues.insert(hash)
        }
        news.entries = payloads.suffix(PushCommit.queueLimit).map { payload in
            PushEntry(
                time: now,
                container: environment.container,
                environment: environment.kind,
                userRecordName: user.recordName,
                subscriptionID: payload.subscription.subscriptionID,
                devices: news.queues.count,
                payload: String(decoding: payload.data(badge: nil), as: UTF8.self)
            )
        }
        return news
    }
}
