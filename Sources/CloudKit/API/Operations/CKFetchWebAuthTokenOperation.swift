import CloudKitWebClient
import Foundation

/// An operation that fetches a token with which a web client acts for the signed-in user.
///
/// In web services a user's token is bound to the API token that it was created with: the operation
/// returns the container's own, and fails with `CKError.permissionFailure` for another API token.
open class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The API token of the web client.
    open var apiToken: String?

    /// The closure to call when the operation ends, with the token.
    public var fetchWebAuthTokenResultBlock:
        ((_ operationResult: Result<String, any Error>) -> Void)?

    private var completion: ((String?, (any Error)?) -> Void)?
    private var token: String?

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches a token for an API token.
    public convenience init(apiToken APIToken: String) {
        self.init()
        apiToken = APIToken
    }

    /// The closure to call when the operation ends, with the token.
    @available(*, deprecated, message: "Use fetchWebAuthTokenResultBlock")
    open var fetchWebAuthTokenCompletionBlock: ((String?, (any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let requests = requests
        _ = try await requests.userRecordID()
        let credentials = try requests.connection.client.credentials
        guard apiToken == credentials.apiToken else {
            throw CKError(
                .permissionFailure,
                message: "Web services issue tokens only for the container's own API token; for "
                    + "another one, sign in on its web page"
            )
        }
        token = try await native { () throws(WebClientError) in
            try credentials.webAuthToken(under: requests.signIn ?? credentials.signInCount)
        }
    }

    override func conclude(_ error: CKError?) {
        let failure = error ?? CKError(.notAuthenticated, message: "No user is signed in")
        if let fetchWebAuthTokenResultBlock {
            fetchWebAuthTokenResultBlock(token.map { .success($0) } ?? .failure(failure))
        } else {
            completion?(token, token == nil ? failure : nil)
        }
    }
}
