package import CloudKitWebClient
import CloudKitWire
import Foundation
import Synchronization

/// How a container reaches its service, and what is known of the user there.
///
/// All databases of a container share one; so do all containers of the process's own settings.
package final class CloudConnection: Sendable {
    /// The client of the service, or why there is none.
    private let configured: Result<WebClient, CKError>

    /// The user who was last asked for, and the sign-in that it belongs to.
    private let caller = Mutex<(name: String, signIn: Int)?>(nil)

    /// Where operations run that are added to the container or to one of its databases.
    let operations: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "CloudKit.operations"
        // Operations wait for the network, not for a processor.
        queue.maxConcurrentOperationCount = 256
        return queue
    }()

    /// Makes a connection over a client.
    package init(client: WebClient) {
        configured = .success(client)
    }

    /// Makes a connection from settings that may be incomplete: the first request then fails.
    init(_ configured: Result<WebClient, CKError>) {
        self.configured = configured
    }

    /// The client of the service.
    ///
    /// - Throws: `CKError.badContainer` when nothing says where the service is; the message says
    ///   what to set.
    package var client: WebClient {
        get throws(CKError) { try configured.get() }
    }

    /// The container's name; nil when nothing says where the service is.
    package var containerName: String? { (try? configured.get())?.container }

    /// The client of the service, for requests of some urgency.
    func client(_ settings: RequestSettings) throws(CKError) -> WebClient {
        var client = try client
        client.timeout = settings.timeout
        if settings.isPatient { client.repetition = .patient }
        return client
    }

    /// The record name of the signed-in user, asked for once; nil when no user is signed in.
    func callerName() async throws(CKError) -> String? {
        let client = try client
        let signIn = client.credentials.signInCount
        if let known = caller.withLock({ $0 }), known.signIn == signIn { return known.name }
        guard client.credentials.webAuthToken != nil else { return nil }
        do {
            let name = try await client.caller().userRecordName
            caller.withLock { $0 = (name, signIn) }
            return name
        } catch {
            throw CKError(error)
        }
    }

    /// Signs a user in with a token, or out with nil, and tells the process.
    package func signIn(webAuthToken: String?) throws(CKError) {
        try client.credentials.signIn(webAuthToken: webAuthToken)
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }
}
