import CloudKitWire
import Foundation

/// Takes what must not be told out of errors, wherever it came into them: a proxy's page repeats the
/// address it was asked for, and a transport of another make may name it.
struct Redaction {
    /// What stands in place of a secret.
    static let mark = "[secret]"

    private let secrets: [String]

    /// Looks at what a request shows: its tokens, its signature, and the rest of its address.
    init(_ request: TransportRequest, _ credentials: WebCredentials) {
        var secrets = [
            request.url, request.headers["X-Apple-CloudKit-Request-SignatureV1"] ?? "",
            credentials.apiToken, credentials.webAuthToken ?? "",
        ]
        let query = request.url.firstIndex(of: "?").map { request.url[$0...].dropFirst() } ?? ""
        for parameter in query.split(separator: "&") {
            guard let equals = parameter.firstIndex(of: "="),
                ["ckAPIToken", "ckWebAuthToken"].contains(parameter[..<equals])
            else { continue }
            let value = String(parameter[equals...].dropFirst())
            secrets += [value, value.removingPercentEncoding ?? value]
        }
        self.init(secrets)
    }

    /// Looks at a link, which is a secret with all that follows the server's name.
    init(link: String) {
        let path = link.range(of: "://").flatMap { scheme in
            link[scheme.upperBound...].firstIndex(of: "/").map { String(link[$0...]) }
        }
        let query = link.firstIndex(of: "?").map { String(link[$0...].dropFirst()) }
        let values = (query ?? "").split(separator: "&").flatMap { parameter -> [String] in
            let value = String(parameter.drop { $0 != "=" }.dropFirst())
            return [value, value.removingPercentEncoding ?? value]
        }
        self.init([link, path ?? "", query ?? ""] + values)
    }

    private init(_ secrets: [String]) {
        // What is shorter is no secret, and may be part of any word.
        self.secrets = Set(secrets.filter { $0.utf8.count >= 8 }).sorted { $0.count > $1.count }
    }

    /// The text without secrets.
    func clean(_ text: String) -> String {
        secrets.reduce(text) { $0.replacing($1, with: Self.mark) }
    }

    /// The error without secrets; a cause that holds one is left out.
    func clean(_ error: WebClientError) -> WebClientError {
        switch error {
        case .refused(var refusal, let status):
            refusal.reason = refusal.reason.map(clean)
            refusal.uuid = refusal.uuid.map(clean)
            // Not `redirectURL`: whoever signs in goes there, and it carries the API token.
            refusal.serverErrorCode = ServerErrorCode(
                rawValue: clean(refusal.serverErrorCode.rawValue)
            )
            return .refused(refusal, status: status)
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
        return secrets.contains { text.contains($0) }
    }
}
