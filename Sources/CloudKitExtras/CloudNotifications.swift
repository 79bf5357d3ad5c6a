#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit
import CloudKitWebClient
import Foundation

extension CKContainer {
    /// What the user's subscriptions push, as long as somebody listens.
    ///
    /// ```swift
    /// for try await notification in container.notifications() {
    ///     if notification is CKDatabaseNotification { try await fetchChanges() }
    /// }
    /// ```
    ///
    /// Lost connections are made again. What was pushed before the sequence started, and a
    /// notification that a connection was lost with, do not come: fetch changes when the sequence
    /// starts, and now and then. What this container itself changes is not pushed to it.
    ///
    /// - Parameter clientID: A name under which the service knows this listener again.
    /// - Returns: The notifications, which start with the first iteration.
    public func notifications(clientID: String? = nil) -> CloudNotifications {
        CloudNotifications(container: self, clientID: clientID)
    }
}

/// The notifications of a container, one after the other; see `CKContainer.notifications()`.
public struct CloudNotifications: AsyncSequence, Sendable {
    /// A notification.
    public typealias Element = CKNotification

    /// Why listening ended: only what a new connection cannot cure.
    public typealias Failure = any Error

    let container: CKContainer
    let clientID: String?

    /// Starts to listen.
    public func makeAsyncIterator() -> Iterator {
        Iterator(container: container, clientID: clientID)
    }

    /// Waits for one notification after the other.
    public struct Iterator: AsyncIteratorProtocol {
        /// Failures in a row after which the cause is given to the caller.
        private static let patience = 10

        private let container: CKContainer
        private let clientID: String
        /// The place where the notifications of one sign-in come.
        private var place: (url: String, signIn: Int?)?
        private var failures = 0

        init(container: CKContainer, clientID: String?) {
            self.container = container
            // The same place after every interruption, with what was pushed meanwhile.
            self.clientID = clientID ?? UUID().uuidString
        }

        /// Waits for the next notification; nil when the task is cancelled.
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
                    // A place may be forgotten by the service: ask for another one.
                    place = nil
                    failures += 1
                    guard failures < Self.patience, Self.isCurable(error) else {
                        throw CKError.make(error)
                    }
                    let delay = Swift.min(0.01 * Double(1 << failures), 1)
                    try? await client.clock.sleep(for: .seconds(delay))
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
            guard let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
                return nil
            }
            return CKNotification(fromRemoteNotificationDictionary: json)
        }
    }
}
#endif
