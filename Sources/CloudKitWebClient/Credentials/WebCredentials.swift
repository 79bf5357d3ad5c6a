import CloudKitWire
import Synchronization

/// What a client shows to the service: an API token, and for a user's own data a web auth token.
///
/// The service answers every request with a fresh web auth token; the credentials keep the newest,
/// and all clients that share them use it.
public final class WebCredentials: Sendable {
    /// The token of the app, made for a container and environment.
    public let apiToken: String

    private let currentWebAuthToken: Mutex<String?>

    /// Makes credentials; without a web auth token only the public database can be read.
    public init(apiToken: String, webAuthToken: String? = nil) {
        self.apiToken = apiToken
        currentWebAuthToken = Mutex(webAuthToken)
    }

    /// The token of the signed-in user, as last answered by the service; nil without one.
    public var webAuthToken: String? {
        currentWebAuthToken.withLock { $0 }
    }

    /// Takes the token that an answer carries.
    func renew(_ token: String) {
        currentWebAuthToken.withLock { current in
            if current != nil { current = token }
        }
    }

    /// The query that shows the tokens.
    var query: String {
        let api = "ckAPIToken=" + Self.escaped(apiToken)
        guard let webAuthToken else { return api }
        return api + "&ckWebAuthToken=" + Self.escaped(webAuthToken)
    }

    /// Percent-encodes all but the unreserved characters of RFC 3986: a web auth token holds `+`,
    /// `/` and `=`.
    private static func escaped(_ text: String) -> String {
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
