import CloudKitBasics
import Foundation
import Synchronization

/// The credentials that a client sends to the service: an API token, with a web auth token for a
/// user's own data; or a server-to-server key, which signs every request.
///
/// The service includes a new web auth token in every response; the credentials keep the newest, and
/// all clients that share them use it. A token belongs to its sign-in: the response to a request for
/// one user changes nothing for the next one.
///
/// Interpolating or dumping credentials never prints their secrets.
///
/// ```swift
/// let user = WebCredentials(apiToken: apiToken, webAuthToken: webAuthToken)
/// let server = WebCredentials(serverKey: try ServerKey(keyID: keyID, privateKeyPEM: pem))
/// ```
public final class WebCredentials: Sendable {
    /// The token of the app, created for a container and environment; empty with a key.
    public let apiToken: String

    private let key: Mutex<ServerKey?>
    private let state: Mutex<SignInState>
    private let extensions = Mutex<Bool?>(nil)
    // Not a mutex, because the closure that stores a token may sign a user in or out.
    private let keeping = NSRecursiveLock()
    // Not in a mutex: each access would wrap the closure once more, so that calls would nest ever
    // deeper.
    private let renewed: @Sendable (String?) -> Void

    /// Creates credentials with tokens; without a web auth token, they can only read the public
    /// database.
    ///
    /// - Parameters:
    ///   - apiToken: The token of the app.
    ///   - webAuthToken: The token of the signed-in user.
    ///   - renewed: Receives each new web auth token, and nil when the user signs out, to store it for
    ///     the next run of the process. Calls are serial, the newest last.
    public init(
        apiToken: String,
        webAuthToken: String? = nil,
        renewed: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.apiToken = apiToken
        key = Mutex(nil)
        state = Mutex(SignInState(token: webAuthToken))
        self.renewed = renewed
    }

    /// Creates credentials of a server, which access the public database as the key's owner.
    public init(serverKey: ServerKey) {
        apiToken = ""
        key = Mutex(serverKey)
        state = Mutex(SignInState(token: nil))
        renewed = { _ in }
    }

    /// The key that signs requests; nil with tokens.
    public var serverKey: ServerKey? { key.withLock { $0 } }

    /// `true` when the server is this package's own, with its extensions; nil before its first
    /// response.
    package var serverHasExtensions: Bool? { extensions.withLock { $0 } }

    /// Notes whether a response indicates the server's extensions.
    func noteExtensions(_ areThere: Bool) {
        extensions.withLock { $0 = $0 == true || areThere }
    }

    /// Replaces the key for all further requests, when keys are rotated.
    ///
    /// All clients that share the credentials use the new key. Credentials with tokens accept no key.
    ///
    /// - Returns: Whether these are credentials with a key.
    @discardableResult
    public func rotate(to serverKey: ServerKey) -> Bool {
        key.withLock { key in
            guard key != nil else { return false }
            key = serverKey
            return true
        }
    }

    /// The token of the signed-in user, as last returned by the service; nil without one.
    public var webAuthToken: String? { state.withLock { $0.token } }

    /// The number of sign-ins and sign-outs: facts about the user are valid for one number.
    package var signInCount: Int { state.withLock { $0.signIn } }

    /// Stores the token in the response to a request that was sent under a sign-in.
    func renew(_ token: String, under signIn: Int) {
        if let change = state.withLock({ $0.renew(token, under: signIn) }) { keep(change) }
    }

    /// Signs a user in, with a token from the service's sign-in page, or out, with nil.
    ///
    /// Work for the previous user is no longer sent, and fails with
    /// `TransportError.Code.userChanged`.
    public func signIn(webAuthToken: String?) {
        keep(state.withLock { $0.signIn(webAuthToken) })
    }

    private func keep(_ change: SignInState.Change) {
        keeping.lock()
        defer { keeping.unlock() }
        if state.withLock({ $0.keeps(change) }) { renewed(change.token) }
    }

    /// Returns whether work that began under a sign-in may continue.
    func isCurrent(_ signIn: Int) -> Bool { state.withLock { $0.isCurrent(signIn) } }

    /// Returns the header fields that sign a request; none with tokens.
    func headers(target: String, body: Data) -> [String: String] {
        serverKey?.headers(target: target, body: body, date: Date()) ?? [:]
    }

    /// Returns the user's token for work that began under a sign-in.
    ///
    /// - Throws: `userChanged` when that sign-in is over.
    package func webAuthToken(under signIn: Int) throws(WebClientError) -> String? {
        let token = state.withLock { state -> String?? in
            state.isCurrent(signIn) ? .some(state.token) : nil
        }
        guard let token else { throw .userChanged }
        return token
    }

    /// Returns the query with the tokens for work that began under a sign-in; empty with a key.
    func query(under signIn: Int) throws(WebClientError) -> String {
        let webAuthToken = try webAuthToken(under: signIn)
        guard serverKey == nil else { return "" }
        let api = "ckAPIToken=" + Self.escaped(apiToken)
        guard let webAuthToken else { return api }
        return api + "&ckWebAuthToken=" + Self.escaped(webAuthToken)
    }

    /// Percent-encodes everything but the unreserved characters of RFC 3986: a web auth token
    /// contains `+`, `/` and `=`.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                escaped += "%" + Hexadecimal.text(CollectionOfOne(byte), uppercase: true)
            }
        }
        return escaped
    }
}

extension WebClientError {
    /// Work for one user is not sent for another.
    static let userChanged = WebClientError.transport(
        TransportError(
            .userChanged,
            message:
                "The user signed out, or in again, while this request was in flight; work for "
                + "the previous user is not sent for another one"
        )
    )
}

// Interpolation, logs and dumps show only the kind of the credentials.
extension WebCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of the credentials, without their contents.
    public var description: String {
        if let serverKey { return "WebCredentials(\(serverKey))" }
        return webAuthToken == nil
            ? "WebCredentials(API token)" : "WebCredentials(API token, user's token)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
