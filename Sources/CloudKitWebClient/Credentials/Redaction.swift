import CloudKitWire
import Foundation
import Synchronization

/// Takes what must not be told out of errors, wherever it came into them: a proxy's page repeats the
/// address it was asked for, and a transport of another make may name it.
struct Redaction: Sendable {
    /// What stands in place of a secret.
    static let mark = "[secret]"

    /// Where the service tells the next web auth token.
    static let tokenHeader = "x-apple-cloudkit-web-auth-token"

    private let secrets: SecretSearch
    /// The secrets that the address of a sign-in has no need of.
    private let linkSecrets: SecretSearch
    /// What the request said itself.
    private let body: Data

    /// Looks at what a request shows, which are its tokens and its signature, and at the token that
    /// the answer brought.
    init(
        _ request: TransportRequest,
        _ credentials: WebCredentials,
        _ response: TransportResponse? = nil
    ) {
        var tokens = [
            request.headers["X-Apple-CloudKit-Request-SignatureV1"] ?? "",
            credentials.webAuthToken ?? "", response?.headers[Self.tokenHeader] ?? "",
        ]
        var apiTokens = [credentials.apiToken]
        let query = request.url.firstIndex(of: "?").map { request.url[$0...].dropFirst() } ?? ""
        for parameter in query.split(separator: "&") {
            guard let equals = parameter.firstIndex(of: "=") else { continue }
            let value = String(parameter[equals...].dropFirst())
            let forms = [value, value.removingPercentEncoding ?? value]
            switch parameter[..<equals] {
            case "ckAPIToken": apiTokens += forms
            case "ckWebAuthToken": tokens += forms
            default: break
            }
        }
        secrets = SecretSearch(tokens + apiTokens)
        linkSecrets = SecretSearch(tokens)
        body = request.body ?? Data()
    }

    /// Looks at a link, which is a secret with all that follows the server's name, and at what the
    /// same server was shown in requests.
    init(link: String, _ credentials: WebCredentials) {
        let server = link.range(of: "://")?.upperBound ?? link.startIndex
        let place = String(link[server...].drop { !"/?#".contains($0) })
        let tokens = [credentials.apiToken, credentials.webAuthToken ?? ""]
        secrets = SecretSearch([place, place.removingPercentEncoding ?? place] + tokens)
        linkSecrets = secrets
        body = Data()
    }

    /// The text without secrets.
    func clean(_ text: String) -> String {
        secrets.replacing(Self.mark, in: text)
    }

    /// The error without secrets; a cause that holds one is left out.
    func clean(_ error: WebClientError) -> WebClientError {
        switch error {
        // Its strings were cleaned when they were read.
        case .refused: return error
        case .transport(var failure):
            failure.message = clean(failure.message)
            if let cause = failure.cause, isSecret(cause) { failure.cause = nil }
            return .transport(failure)
        case .unexpectedAnswer(let status, let message, let retryAfter):
            return .unexpectedAnswer(
                status: status,
                message: clean(message),
                retryAfter: retryAfter
            )
        case .unwritable(let message): return .unwritable(message: clean(message))
        }
    }

    private func isSecret(_ cause: any Error) -> Bool {
        var text = "\(cause) \(cause.localizedDescription) \((cause as NSError).userInfo)"
        dump(cause, to: &text)
        return clean(text) != text
    }

    /// The name of an item without secrets; a name that the request had is the app's own, and stays.
    private func clean(name: String) -> String {
        let clean = clean(name)
        // Text always encodes.
        guard clean != name, let asked = try? WireJSON.encode([name]).dropFirst().dropLast(),
            body.range(of: asked) != nil
        else { return clean }
        return name
    }

    /// The address of a sign-in: with the app's token, which the page asks for, and without others.
    private func clean(link: String) -> String {
        linkSecrets.replacing(Self.mark, in: link)
    }

    /// How the errors of an answer are read; nothing is made ready for answers without errors.
    static func errors(_ redaction: @escaping @Sendable () -> Redaction) -> ErrorText {
        let later = Later(redaction)
        return ErrorText(
            text: { later.value.clean($0) },
            name: { later.value.clean(name: $0) },
            link: { later.value.clean(link: $0) }
        )
    }

    private final class Later: Sendable {
        private let make: @Sendable () -> Redaction
        private let made = Mutex<Redaction?>(nil)

        init(_ make: @escaping @Sendable () -> Redaction) {
            self.make = make
        }

        var value: Redaction {
            made.withLock { made in
                let value = made ?? make()
                made = value
                return value
            }
        }
    }
}

extension WebClient {
    /// What a server said in an answer that is no error, without the tokens that it may repeat, for
    /// an error's text.
    package func cleaned(_ text: String) -> String {
        Redaction(link: "", credentials).clean(text)
    }
}
