import CloudKitBasics
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import HTTPTypes
import Hummingbird
import NIOCore

/// One visit of the page for signing in.
private struct SignInVisit {
    let apiToken: String
    /// The page to tell; nil where there is none, or it may not be told.
    let origin: String?
    /// The address to go to with the token; nil where there is none.
    let callback: String?
    let page: SignInPage
    /// What the page's buttons and script may do.
    let contentPolicy: String
}

extension HTTPFace {
    /// Bytes of the form at most.
    private static let formBytes = 16 * 1024

    /// Shows the page for signing in, or signs in who filled it in.
    func signIn(_ request: Request, _ context: FaceContext) async -> Response {
        let parameters = QueryParameters(request.uri.query)
        let apiToken = parameters["ckAPIToken"] ?? ""
        do {
            guard let container = try await service.container(ofAPIToken: apiToken) else {
                let visit = visit(parameters, apiToken, container: "")
                return html(
                    visit.page.problem(
                        "This address is not complete or no longer good. Go back to where you came "
                            + "from, and try again."
                    ),
                    visit,
                    .notFound
                )
            }
            let visit = visit(parameters, apiToken, container: container)
            if let text = parameters["redirect"], visit.callback == nil {
                return html(visit.page.problem(Self.refusal(ofCallback: text)), visit, .badRequest)
            }
            let peer = peer(context)
            let isLocal = policy.isLocal(request, from: peer)
            switch request.method {
            case .post:
                let client = policy.client(of: request, from: peer)
                return try await signIn(request, visit, isLocal, client)
            case .get, .head:
                let users = isLocal ? try await service.signInChoices(apiToken: apiToken) : nil
                return html(visit.page.form(users ?? []), visit)
            default:
                return Response(status: .methodNotAllowed, headers: [.allow: "GET, POST"])
            }
        } catch {
            let answer = service.refusal(error)
            return Response(status: .init(code: answer.status))
        }
    }

    private static func refusal(ofCallback text: String) -> String {
        "You cannot be sent to \(text.prefix(200)) after signing in: the server does not know the "
            + "address. Whoever runs the server can allow it."
    }

    private func visit(
        _ parameters: QueryParameters,
        _ apiToken: String,
        container: String
    ) -> SignInVisit {
        // The token is told to pages that may call the server, and to no others.
        let origin = parameters["origin"].flatMap { policy.allows(origin: $0) ? $0 : nil }
        let callback = parameters["redirect"].flatMap { policy.allows(callback: $0) ? $0 : nil }
        let query = [("ckAPIToken", apiToken), ("origin", origin), ("redirect", callback)]
            .compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
            .joined(separator: "&")
        let nonce = Hexadecimal.text(SystemRandomness().bytes(16))
        // Browsers look at where a form's answer leads, too.
        let target = callback.map { " " + Self.source(of: $0) } ?? ""
        return SignInVisit(
            apiToken: apiToken,
            origin: origin,
            callback: callback,
            page: SignInPage(container: container, query: query, nonce: nonce),
            contentPolicy: "default-src 'none'; script-src 'nonce-\(nonce)'; "
                + "style-src 'nonce-\(nonce)'; frame-ancestors 'none'; base-uri 'none'; "
                + "form-action 'self'\(target)"
        )
    }

    /// An address as a content security policy names where it leads.
    private static func source(of callback: String) -> String {
        let scheme = callback.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else { return scheme + ":" }
        let host = callback.dropFirst(scheme.count + 3)
            .prefix { $0 != "/" && $0 != "?" && $0 != ";" && $0 != "," }
        return "\(scheme)://\(host)"
    }

    private func signIn(
        _ request: Request,
        _ visit: SignInVisit,
        _ isLocal: Bool,
        _ address: String
    ) async throws -> Response {
        // Whoever may not sign in need not send a form. On this machine it may name somebody without a
        // password.
        if !isLocal, let seconds = service.signInWait(address: address) {
            return wait(seconds, visit)
        }
        if let length = WholeBody(request).length, length > Self.formBytes {
            return html(visit.page.form(error: "The form is too long."), visit, .badRequest)
        }
        guard let form = await form(of: request) else {
            return html(visit.page.form(error: "The form came in part only."), visit, .badRequest)
        }
        if isLocal, let user = form["user"] {
            let token = try await service.signIn(apiToken: visit.apiToken, userRecordName: user)
            if let token { return welcome(token, visit) }
        }
        let name = form["name"] ?? ""
        guard !name.isEmpty, let password = form["password"], !password.isEmpty else {
            let error = "Type your name and your password."
            return html(visit.page.form(name: name, error: error), visit, .badRequest)
        }
        let outcome = try await service.signIn(
            apiToken: visit.apiToken,
            name: name,
            password: password,
            address: address
        )
        switch outcome {
        case .signedIn(let token): return welcome(token, visit)
        case .limited(let seconds): return wait(seconds, visit, name: name)
        case .refused, .unknownApp:
            let error = "The name or the password is wrong."
            return html(visit.page.form(name: name, error: error), visit, .forbidden)
        }
    }

    /// Says when to try again.
    private func wait(_ seconds: Int, _ visit: SignInVisit, name: String = "") -> Response {
        let minutes = (seconds + 59) / 60
        let time = minutes == 1 ? "a minute" : "\(minutes) minutes"
        let error = "Too many tries failed. Wait \(time), and try again."
        var response = html(visit.page.form(name: name, error: error), visit, .tooManyRequests)
        response.headers[.retryAfter] = "\(seconds)"
        return response
    }

    /// What a form holds; nil when it is cut short or too long.
    private func form(of request: Request) async -> QueryParameters? {
        guard let bytes = try? await request.body.collect(upTo: Self.formBytes) else { return nil }
        let text = String(buffer: bytes).replacing("+", with: "%20")
        return QueryParameters(text)
    }

    /// Hands the token over.
    private func welcome(_ token: String, _ visit: SignInVisit) -> Response {
        guard let callback = visit.callback else {
            return html(visit.page.done(token: token, origin: visit.origin), visit)
        }
        let separator = callback.contains("?") ? "&" : "?"
        let location = "\(callback)\(separator)ckWebAuthToken=\(PercentEncoding.encode(token))"
        return Response(
            status: .seeOther,
            headers: [
                .location: location, .cacheControl: "no-store", .referrerPolicy: "no-referrer",
            ]
        )
    }

    private func html(
        _ text: String,
        _ visit: SignInVisit,
        _ status: HTTPResponse.Status = .ok
    ) -> Response {
        Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=UTF-8",
                .cacheControl: "no-store",
                .contentSecurityPolicy: visit.contentPolicy,
                .xContentTypeOptions: "nosniff",
                // The address has the app's token; without a referrer browsers would send no origin.
                .referrerPolicy: "same-origin",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

extension HTTPField.Name {
    static let referrerPolicy = Self("Referrer-Policy").unsafelyUnwrapped
}
