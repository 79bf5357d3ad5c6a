package import CloudKitWebClient
import CloudKitWire
import Foundation
import Synchronization

/// A container's connection to its service, with the state of the user there.
///
/// All databases of a container share one; so do all containers with the process's own settings.
package final class CloudConnection: @unchecked Sendable {
    // @unchecked Sendable because older SDKs do not declare it for `OperationQueue`, which is safe
    // to share; everything else is a constant or guarded by a lock.

    /// The client of the service, or the reason why there is none.
    private let configured: Result<WebClient, CKError>

    /// The last fetched user name, and the sign-in that it belongs to.
    private let caller = Mutex<(name: String, signIn: Int)?>(nil)

    /// The known state of the user's account.
    let account = Mutex(Account())

    /// The shares that were accepted and left through this connection.
    let sharingChanges = SharingChanges()

    /// The queue of the operations that are added to the container or to one of its databases.
    let operations: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "CloudKit.operations"
        // Operations wait for the network, not for a CPU.
        queue.maxConcurrentOperationCount = 256
        return queue
    }()

    /// Creates a connection with a client.
    package init(client: WebClient) {
        configured = .success(client)
    }

    /// Creates a connection from settings that may be incomplete: the first request then fails.
    init(_ configured: Result<WebClient, CKError>) {
        self.configured = configured
    }

    /// The client of the service.
    ///
    /// - Throws: `CKError.badContainer` when no service is configured; the message lists what to
    ///   set.
    package var client: WebClient {
        get throws(CKError) { try configured.get() }
    }

    /// The container's name; nil when no service is configured.
    package var containerName: String? {
        // Each request reports the error of a configuration.
        (try? configured.get())?.container
    }

    /// The current sign-in; nil when no service is configured.
    var signIn: Int? {
        // Each request reports the error of a configuration.
        (try? configured.get())?.credentials.signInCount
    }

    /// Returns the client for work with some settings that began under a sign-in, or begins now.
    func client(_ settings: RequestSettings, signIn: Int? = nil) throws(CKError) -> WebClient {
        var client = try client
        client.signIn = signIn
        client = client.begun()
        client.timeout = settings.timeout
        if settings.isPatient { client.retryPolicy = .patient }
        if let clientID = settings.clientID { client.clientID = clientID }
        return client.limited(to: settings.callTimeout)
    }

    /// Returns the record name of the signed-in user, fetched once; nil when no user is signed in.
    ///
    /// - Throws: Among others, the error of all requests for an account that cannot be used.
    func callerName(_ client: WebClient) async throws(CKError) -> String? {
        try checkAccount(client)
        if let known = knownCaller(client) { return known }
        return try await askForCaller(client)
    }

    /// Returns the record name of the signed-in user if it has been fetched.
    func knownCaller(_ client: WebClient) -> String? {
        let signIn = client.signIn ?? client.credentials.signInCount
        return caller.withLock { $0.flatMap { $0.signIn == signIn ? $0.name : nil } }
    }

    /// Fetches the record name of the signed-in user; returns nil when no user is signed in.
    func askForCaller(_ client: WebClient) async throws(CKError) -> String? {
        let client = client.begun()
        do {
            let signIn = client.signIn ?? 0
            guard try client.credentials.webAuthToken(under: signIn) != nil else { return nil }
            let name = try await client.caller().userRecordName
            caller.withLock { known in
                // A late response belongs to an earlier user.
                if known.map({ $0.signIn <= signIn }) ?? true { known = (name, signIn) }
            }
            return name
        } catch {
            throw CKError(error)
        }
    }

    /// Signs a user in with a token, or out with nil, and notifies the process.
    package func signIn(webAuthToken: String?) throws(CKError) {
        try client.credentials.signIn(webAuthToken: webAuthToken)
        postAccountChange()
    }

    /// Notifies the process that the user or the account's status has changed.
    func postAccountChange() {
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }
}

extension CloudConnection {
    /// The names of the environment variables that configure the process's containers.
    package typealias Variable = ConnectionVariables.Name

    /// Returns the connection that environment variables describe, to a container or, for nil, to
    /// the one that they name.
    package static func environment(
        container: String?,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) -> CloudConnection {
        do {
            let client = try ConnectionVariables(variables).client(container: container)
            return CloudConnection(client: client)
        } catch {
            let remedy =
                "set CLOUDKIT_URL, CLOUDKIT_CONTAINER, CLOUDKIT_API_TOKEN and, for a user's own "
                + "data, CLOUDKIT_WEB_AUTH_TOKEN; for a server-to-server key CLOUDKIT_KEY_ID and "
                + "CLOUDKIT_PRIVATE_KEY_FILE; or give the container a client in code with "
                + "CloudKitExtras"
            return CloudConnection(
                .failure(CKError(.badContainer, message: "\(error); \(remedy)"))
            )
        }
    }
}
