package import CloudKitWebClient
import CloudKitWire
import Foundation
import Synchronization

/// How a container reaches its service, and what is known of the user there.
///
/// All databases of a container share one; so do all containers of the process's own settings.
package final class CloudConnection: @unchecked Sendable {
    // @unchecked Sendable because older SDKs do not say it of `OperationQueue`, which is safe to share;
    // all else is a constant or guarded by a lock.

    /// The client of the service, or why there is none.
    private let configured: Result<WebClient, CKError>

    /// The user who was last asked for, and the sign-in that it belongs to.
    private let caller = Mutex<(name: String, signIn: Int)?>(nil)

    /// Whether the user's account can be used, as far as it is known.
    let account = Mutex(Account())

    /// The shares that were accepted and left through this connection.
    let sharingNews = SharingNews()

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

    /// The sign-in of this moment; nil when nothing says where the service is.
    var signIn: Int? { (try? configured.get())?.credentials.signInCount }

    /// The client of the service, for one piece of work of some urgency that was begun under a
    /// sign-in, or begins now.
    func client(_ settings: RequestSettings, signIn: Int? = nil) throws(CKError) -> WebClient {
        var client = try client
        client.signIn = signIn
        client = client.begun()
        client.timeout = settings.timeout
        if settings.isPatient { client.repetition = .patient }
        if let clientID = settings.clientID { client.clientID = clientID }
        return client.limited(to: settings.callTimeout)
    }

    /// The record name of the signed-in user, asked for once; nil when no user is signed in.
    ///
    /// - Throws: Among others, what all requests of an account fail with that cannot be used.
    func callerName(_ client: WebClient) async throws(CKError) -> String? {
        try checkAccount(client)
        if let known = knownCaller(client) { return known }
        return try await askForCaller(client)
    }

    /// The record name of the signed-in user, if it was asked for.
    func knownCaller(_ client: WebClient) -> String? {
        let signIn = client.signIn ?? client.credentials.signInCount
        return caller.withLock { $0.flatMap { $0.signIn == signIn ? $0.name : nil } }
    }

    /// Asks the service for the record name of the signed-in user; nil when no user is signed in.
    func askForCaller(_ client: WebClient) async throws(CKError) -> String? {
        let client = client.begun()
        do {
            let signIn = client.signIn ?? 0
            guard try client.credentials.webAuthToken(under: signIn) != nil else { return nil }
            let name = try await client.caller().userRecordName
            caller.withLock { known in
                // A late answer is about a user of before.
                if known.map({ $0.signIn <= signIn }) ?? true { known = (name, signIn) }
            }
            return name
        } catch {
            throw CKError(error)
        }
    }

    /// Signs a user in with a token, or out with nil, and tells the process.
    package func signIn(webAuthToken: String?) throws(CKError) {
        try client.credentials.signIn(webAuthToken: webAuthToken)
        postAccountChange()
    }

    /// Tells the process that the user or the account's status is another.
    func postAccountChange() {
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }
}
