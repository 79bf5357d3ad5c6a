import CloudKitFiles
import CloudKitWebClient
import CloudKitWire
import Foundation

/// A database's requests, as async functions: the shared core of the convenience methods, their
/// completion-handler forms and the operations.
struct DatabaseRequests: Sendable {
    let connection: CloudConnection
    let scope: CKDatabase.Scope
    var settings = RequestSettings()
    /// The sign-in that the work began under; nil for that of each request.
    var signIn: Int?

    /// Returns the same requests for work that begins now, and ends with the current sign-in.
    func begun(under signIn: Int? = nil) -> Self {
        var requests = self
        requests.signIn = signIn ?? requests.signIn ?? connection.signIn
        return requests
    }

    /// The parts that one call needs: the client, and its naming of owners.
    struct Context: Sendable {
        let client: WebClient
        let owners: OwnerMapping
        let database: DatabaseScope
        let files: PrivateFiles

        /// `true` when requests have an author: a user, or a program that has a key.
        var isSomebody: Bool { owners.caller != nil || client.credentials.serverKey != nil }

        var records: RecordMapping {
            RecordMapping(
                owners: owners,
                shares: shares,
                keepsExactDates: client.credentials.serverHasExtensions == true
            )
        }

        var shares: ShareMapping {
            let isApples = client.url == WebClient.appleURL
            return ShareMapping(
                owners: owners,
                linkBase: isApples ? "https://www.icloud.com" : client.url
            )
        }
    }

    /// The client for one call.
    var client: WebClient {
        get throws(CKError) { try connection.client(settings, signIn: signIn) }
    }

    /// Returns the ID of the signed-in user's record.
    ///
    /// - Throws: `notAuthenticated` when no user is signed in, or the account may not be used.
    func userRecordID() async throws(CKError) -> CKRecord.ID {
        let name: String?
        do {
            name = try await connection.callerName(client)
        } catch let error where error.code == .managedAccountRestricted {
            throw CKError(.notAuthenticated, message: error.localizedDescription, cause: error)
        }
        guard let name else {
            let hasKey = try connection.client.credentials.serverKey != nil
            throw CKError(
                .notAuthenticated,
                message: hasKey
                    ? "A program with a server-to-server key is no user: it has the public database "
                        + "and no record of its own to ask for"
                    : "No user is signed in"
            )
        }
        return CKRecord.ID(recordName: name)
    }

    /// Returns the context of a call; fetches the caller's name the first time.
    func context() async throws(CKError) -> Context {
        let client = try client
        let caller = try await connection.callerName(client)
        guard caller != nil || scope == .public else {
            throw CKError(
                .notAuthenticated,
                message: "The \(scope.wire.rawValue) database needs a signed-in user: a web auth "
                    + "token, from CLOUDKIT_WEB_AUTH_TOKEN or given in code"
                    + (client.credentials.serverKey == nil
                        ? "" : "; a server-to-server key reaches the public database alone")
            )
        }
        return Context(
            client: client,
            owners: OwnerMapping(scope: scope, caller: caller),
            database: scope.wire,
            files: settings.files
        )
    }
}

extension CKDatabase.Scope {
    /// The scope in the paths of requests.
    var wire: DatabaseScope {
        switch self {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }
}

/// Runs a request of the web client and converts its error to Apple's.
func native<Success>(
    _ request: () async throws(WebClientError) -> Success
) async throws(CKError) -> Success {
    do {
        return try await request()
    } catch {
        throw CKError(error)
    }
}
