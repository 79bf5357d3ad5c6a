#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit
import CloudKitWebClient
import Foundation

extension CKContainer {
    /// Returns the push notifications of the user's subscriptions, for as long as they are
    /// iterated.
    ///
    /// ```swift
    /// for try await notification in container.notifications() {
    ///     if notification is CKDatabaseNotification { try await fetchChanges() }
    /// }
    /// ```
    ///
    /// Lost connections are restored. Notifications that were pushed before the sequence started,
    /// or lost with a connection, are not delivered: fetch changes when the sequence starts, and
    /// from time to time. The container's own changes are not pushed to it.
    ///
    /// - Parameter clientID: A name by which the service recognises this listener.
    /// - Returns: The notifications, which start with the first iteration.
    public func notifications(clientID: String? = nil) -> CloudNotifications {
        CloudNotifications(container: self, clientID: clientID)
    }
}

/// The notifications of a container; see `CKContainer.notifications()`.
///
/// ```swift
/// for try await notification in container.notifications(clientID: "importer") {
///     print(notification.subscriptionID ?? "")
/// }
/// ```
public struct CloudNotifications: AsyncSequence, Sendable {
    /// The element type.
    public typealias Element = CKNotification

    /// The error that ends the sequence: one that a new connection cannot resolve.
    public typealias Failure = any Error

    let container: CKContainer
    let clientID: String?

    /// Returns an iterator, which starts to listen.
    public func makeAsyncIterator() -> Iterator {
        Iterator(container: container, clientID: clientID)
    }

    /// An iterator that waits for one notification after the other.
    public struct Iterator: AsyncIteratorProtocol {
        /// The waits between attempts to listen; the last failure is thrown.
        private static let retryPolicy = RetryPolicy(attempts: 10, delay: 0.02, longestDelay: 1)

        private let container: CKContainer
        private let clientID: String
        /// The address of one sign-in's notifications.
        private var place: (url: String, signIn: Int?)?
        private var failures = 0

        init(container: CKContainer, clientID: String?) {
            self.container = container
            // The same address after every interruption, with the notifications pushed meanwhile.
            self.clientID = clientID ?? UUID().uuidString
        }

        /// Returns the next notification; nil when the task is cancelled.
        ///
        /// - Throws: `CKError` when the service refuses, or cannot be reached for long.
        public mutating func next() async throws -> CKNotification? {
            while !Task.isCancelled {
                let client = try container.connection.client.begun()
                do {
                    let data = try await wait(client)
                    failures = 0
                    if let notification = data.flatMap(Self.read) { return notification }
                } catch {
                    guard !Task.isCancelled else { return nil }
                    // The service may have dropped the address: request another one.
                    place = nil
                    failures += 1
                    guard failures < Self.retryPolicy.attempts, Self.isCurable(error) else {
                        throw CKError.make(error)
                    }
                    let delay = Self.retryPolicy.delay(
                        afterFailures: failures,
                        retryAfter: error.retryAfter,
                        chance: .random(in: 0..<1)
                    )
                    // Only a cancellation ends the wait early, and then the loop.
                    try? await client.clock.sleep(for: delay)
                }
            }
            return nil
        }

        private mutating func wait(
            _ client: WebClient
        ) async throws(WebClientError) -> Data? {
            if let place, place.signIn == client.signIn {
                return try await client.nextNotification(at: place.url)
            }
            let token = try await client.createToken(clientID: clientID)
            place = (token.webcourierURL, client.signIn)
            return try await client.nextNotification(at: token.webcourierURL)
        }

        private static func isCurable(_ error: WebClientError) -> Bool {
            if case .refused(let refusal, let status) = error {
                return refusal.retryAfter != nil || status >= 500
            }
            if case .transport(let failure) = error {
                return ![.badAddress, .untrusted].contains(failure.code)
            }
            return true
        }

        private static func read(_ data: Data) -> CKNotification? {
            // A push of another kind is not for this container.
            guard let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
                return nil
            }
            return CKNotification(fromRemoteNotificationDictionary: json)
        }
    }
}
#endif
