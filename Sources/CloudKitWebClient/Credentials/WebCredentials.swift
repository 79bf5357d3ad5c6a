import CloudKitBasics
import Foundation
import Synchronization

/// What a client shows to the service: an API token, and for a user's own data a web auth token; or
/// a server-to-server key, which signs every request.
///
/// The service answers every request with a fresh web auth token; the credentials keep the newest,
/// and all clients that share them use it. A token belongs to its sign-in: the answer to a request
/// that was sent for one user changes nothing for the next one.
///
/// Credentials never print what they hold, wherever they are interpolated or dumped.
public final class WebCredentials: Sendable {
    /// The token of the app, made for a container and environment; empty with a key.
    public let apiToken: String

    private let key: Mutex<ServerKey?>
    private let state: Mutex<SignInState>
    private let extensions = Mutex<Bool?>(nil)
    // Not a mutex, because what keeps a token may sign somebody in or out.
    private let keeping = NSRecursiveLock()
    // Not in a mutex: each access would wrap the closure once more, and calls would sink ever deeper.
    private let renewed: @Sendable (String?) -> Void

    /// Makes credentials; without a web auth token only the public database can be read.
    ///
    /// - Parameters:
    ///   - apiToken: The token of the app.
    ///   - webAuthToken: The token of the signed-in user.
    ///   - renewed: Takes each new web auth token, and nil when the user signs out, to keep it for
    ///     the process's next run. Calls come one after the other, the newest last.
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

    /// Makes credentials of a server, which reach the public database as the key's owner.
    public init(serverKey: ServerKey) {
        apiToken = ""
        key = Mutex(serverKey)
        state = Mutex(SignInState(token: nil))
        renewed = { _ in }
    }

    /// The key that signs requests; nil with tokens.
    public var serverKey: ServerKey? { key.withLock { $0 } }

    /// Whether the server is this package's own, with its extensions; nil before its first answer.
    package var serverHasExtensions: Bool? { extensions.withLock { $0 } }

    /// Takes what an answer says of the server's extensions.
    func noteExtensions(_ areThere: Bool) {
        extensions.withLock { $0 = $0 == true || areThere }
    }

    /// Signs with another key from the next request on, as when a key is rotated.
    ///
    /// Whatever shares the credentials goes on with it. Credentials of tokens take no key.
    ///
    /// - Returns: Whether these are credentials of a key.
    @discardableResult
    public func rotate(to serverKey: ServerKey) -> Bool {
        key.withLock { key in
            guard key != nil else { return false }
            key = serverKey
            return true
        }
    }

    /// The token of the signed-in user, as last answered by the service; nil without one.
    public var webAuthToken: String? { state.withLock { $0.token } }

    /// How often a user was signed in or out: what is known of the user holds for one number.
    package var signInCount: Int { state.withLock { $0.signIn } }

    /// Takes the token that an answer carries to a request that was sent under a sign-in.
    func renew(_ token: String, under signIn: Int) {
        if let change = state.withLock({ $0.renew(token, under: signIn) }) { keep(change) }
    }

    /// Signs a user in, with a token that the service's sign-in page gave, or out, with nil.
    ///
    /// What was begun for the user of before is not sent any more, and fails with
    /// `TransportError.Code.userChanged`.
    public func signIn(webAuthToken: String?) {
        keep(state.withLock { $0.signIn(webAuthToken) })
    }

    private func keep(_ change: SignInState.Change) {
        keeping.lock()
        defer { keeping.unlock() }
        if state.withLock({ $0.keeps(change) }) { renewed(change.token) }
    }

    /// Whether what was begun under a sign-in may go on.
    func isCurrent(_ signIn: Int) -> Bool { state.withLock { $0.isCurrent(signIn) } }

    /// The header fields that sign a request; none with tokens.
    func headers(target: String, body: Data) -> [String: String] {
        serverKey?.headers(target: target, body: body, date: Date()) ?? [:]
    }

    /// The user's token for what was begun under a sign-in.
    ///
    /// - Throws: `userChanged` when that sign-in is over.
    package func webAuthToken(under signIn: Int) throws(WebClientError) -> String? {
        let token = state.withLock { state -> String?? in
            state.isCurrent(signIn) ? .some(state.token) : nil
        }
        guard let token else { throw .userChanged }
        return token
    }

    /// The query that shows the tokens to what was begun under a sign-in; empty with a key.
    func query(under signIn: Int) throws(WebClientError) -> String {
        let webAuthToken = try webAuthToken(under: signIn)
        guard serverKey == nil else { return "" }
        let api = "ckAPIToken=" + Self.escaped(apiToken)
        guard let webAuthToken else { return api }
        return api + "&ckWebAuthToken=" + Self.escaped(webAuthToken)
    }

    /// Percent-encodes all but the unreserved characters of RFC 3986: a web auth token holds `+`,
    /// `/` and `=`.
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
    /// What was begun for one user is not sent for another.
    static let userChanged = WebClientError.transport(
        TransportError(
            .userChanged,
            message:
                "The user was signed out, or in anew, while this was under way; what was begun "
                + "for the user of before is not sent for another one"
        )
    )
}

// What is interpolated, logged or dumped shows the kind of the credentials and nothing else.
extension WebCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of the credentials, without what they hold.
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
