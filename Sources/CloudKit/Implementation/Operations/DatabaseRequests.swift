import CloudKitWebClient
import CloudKitWire
import Foundation

/// What a database can be asked, as async functions: the one core behind the convenience methods,
/// their completion forms and the operations.
struct DatabaseRequests: Sendable {
    let connection: CloudConnection
    let scope: CKDatabase.Scope
    var settings = RequestSettings()
    /// The sign-in that the work was begun under; nil for that of each request.
    var signIn: Int?

    /// The same for a piece of work that begins now, and ends with this moment's sign-in.
    func begun(under signIn: Int? = nil) -> Self {
        var requests = self
        requests.signIn = signIn ?? requests.signIn ?? connection.signIn
        return requests
    }

    /// What one call needs: the client, and how it names owners.
    struct Context: Sendable {
        let client: WebClient
        let owners: OwnerMapping
        let database: DatabaseScope

        /// Whether requests are a user's, or those of a program that has a key.
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

    /// The identity of the signed-in user's record.
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

    /// Learns who the caller is, the first time, and gives what a call needs.
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
            database: scope.wire
        )
    }
}

extension CKDatabase.Scope {
    /// The scope as it stands in paths.
    var wire: DatabaseScope {
        switch self {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }
}

/// Runs a request of the web client and puts its failure into Apple's terms.
func native<Success>(
    _ request: () async throws(WebClientError) -> Success
) async throws(CKError) -> Success {
    do {
        return try await request()
    } catch {
        throw CKError(error)
    }
}
