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

    private let caller = Mutex<String?>(nil)

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

    /// The record name of the signed-in user, asked for once; nil when no user is signed in.
    func callerName() async throws(CKError) -> String? {
        if let known = caller.withLock({ $0 }) { return known }
        let client = try client
        guard client.credentials.webAuthToken != nil else { return nil }
        do {
            let name = try await client.caller().userRecordName
            caller.withLock { $0 = name }
            return name
        } catch {
            throw CKError(error)
        }
    }
}
