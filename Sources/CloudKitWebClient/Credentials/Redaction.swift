import CloudKitWire
import Foundation
import Synchronization

/// Removes secrets from errors, however they got there: a proxy's page repeats the address of the
/// request, and a third-party transport may include it.
struct Redaction: Sendable {
    /// The replacement for a secret.
    static let mark = "[secret]"

    /// The header in which the service sends the next web auth token.
    static let tokenHeader = "x-apple-cloudkit-web-auth-token"

    private let secrets: SecretSearch
    /// The secrets that the address of a sign-in does not need.
    private let linkSecrets: SecretSearch
    /// The body of the request.
    private let body: Data

    /// Collects the secrets of a request, its tokens and its signature, and the token that the
    /// response carries.
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

    /// Collects the secrets of a link, which is one from the server's name on, and those that the
    /// same server received in requests.
    init(link: String, _ credentials: WebCredentials) {
        let server = link.range(of: "://")?.upperBound ?? link.startIndex
        let place = String(link[server...].drop { !"/?#".contains($0) })
        let tokens = [credentials.apiToken, credentials.webAuthToken ?? ""]
        secrets = SecretSearch([place, place.removingPercentEncoding ?? place] + tokens)
        linkSecrets = secrets
        body = Data()
    }

    /// Returns the text without secrets.
    func clean(_ text: String) -> String {
        secrets.replacing(Self.mark, in: text)
    }

    /// Returns the error without secrets; a cause that contains one is left out.
    func clean(_ error: WebClientError) -> WebClientError {
        switch error {
        // Its strings were cleaned when they were decoded.
        case .refused: return error
        case .transport(var failure):
            failure.message = clean(failure.message)
            if let cause = failure.cause, isSecret(cause) { failure.cause = nil }
            return .transport(failure)
        case .unexpectedResponse(let status, let message, let retryAfter):
            return .unexpectedResponse(
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

    /// Returns the name of an item without secrets; a name from the request is the app's own, and
    /// stays.
    private func clean(name: String) -> String {
        let clean = clean(name)
        // Text can always be encoded.
        guard clean != name, let asked = try? WireJSON.encode([name]).dropFirst().dropLast(),
            body.range(of: asked) != nil
        else { return clean }
        return name
    }

    /// Returns the address of a sign-in with the app's token, which the page needs, and without other
    /// secrets.
    private func clean(link: String) -> String {
        linkSecrets.replacing(Self.mark, in: link)
    }

    /// Returns the handling of errors in a response; nothing is prepared for responses without
    /// errors.
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
    /// Returns a server's text from a response that is not an error, without the tokens that it may
    /// repeat, for an error's message.
    package func cleaned(_ text: String) -> String {
        Redaction(link: "", credentials).clean(text)
    }
}
