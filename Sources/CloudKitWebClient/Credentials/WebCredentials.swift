import Foundation
import Synchronization

/// What a client shows to the service: an API token, and for a user's own data a web auth token; or
/// a server-to-server key, which signs every request.
///
/// The service answers every request with a fresh web auth token; the credentials keep the newest,
/// and all clients that share them use it.
public final class WebCredentials: Sendable {
    /// The token of the app, made for a container and environment; empty with a key.
    public let apiToken: String

    /// The key that signs requests; nil with tokens.
    public let serverKey: ServerKey?

    private let currentWebAuthToken: Mutex<String?>
    private let signIns = Mutex(0)
    // Not in a mutex: each access would wrap the closure once more, and calls would sink ever deeper.
    private let renewed: @Sendable (String?) -> Void

    /// Makes credentials; without a web auth token only the public database can be read.
    ///
    /// - Parameters:
    ///   - apiToken: The token of the app.
    ///   - webAuthToken: The token of the signed-in user.
    ///   - renewed: Takes each new web auth token, and nil when the user signs out, to keep it for
    ///     the process's next run.
    public init(
        apiToken: String,
        webAuthToken: String? = nil,
        renewed: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.apiToken = apiToken
        serverKey = nil
        currentWebAuthToken = Mutex(webAuthToken)
        self.renewed = renewed
    }

    /// Makes credentials of a server, which reach the public database as the key's owner.
    public init(serverKey: ServerKey) {
        apiToken = ""
        self.serverKey = serverKey
        currentWebAuthToken = Mutex(nil)
        renewed = { _ in }
    }

    /// The token of the signed-in user, as last answered by the service; nil without one.
    public var webAuthToken: String? {
        currentWebAuthToken.withLock { $0 }
    }

    /// How often a user was signed in or out: what is known of the user holds for one number.
    package var signInCount: Int { signIns.withLock { $0 } }

    /// Takes the token that an answer carries.
    func renew(_ token: String) {
        let isNew = currentWebAuthToken.withLock { current in
            guard current != nil, current != token else { return false }
            current = token
            return true
        }
        if isNew { renewed(token) }
    }

    /// Signs a user in, with a token that the service's sign-in page gave, or out, with nil.
    public func signIn(webAuthToken: String?) {
        currentWebAuthToken.withLock { $0 = webAuthToken }
        signIns.withLock { $0 += 1 }
        renewed(webAuthToken)
    }

    /// The header fields that sign a request; none with tokens.
    func headers(target: String, body: Data) -> [String: String] {
        serverKey?.headers(target: target, body: body, date: Date()) ?? [:]
    }

    /// The query that shows the tokens; empty with a key.
    var query: String {
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
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return escaped
    }
}
