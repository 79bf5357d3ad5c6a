import CloudKitBasics
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import HTTPTypes
import Hummingbird
import NIOCore

/// A request for the sign-in page.
private struct SignInVisit {
    let apiToken: String
    /// The origin of the page that receives the token; nil if there is none, or it may not receive it.
    let origin: String?
    /// The address to redirect to with the token; nil if there is none.
    let callback: String?
    let page: SignInPage
    /// The content security policy for the page's buttons and script.
    let contentPolicy: String
}

extension HTTPAdapter {
    /// The maximum size of the form in bytes.
    private static let formBytes = 16 * 1024

    /// Shows the sign-in page, or signs in the user who submitted it.
    func signIn(_ request: Request, _ context: AdapterContext) async -> Response {
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
            let sender = SignInSender(
                isLocal: policy.isLocal(request, from: peer),
                address: policy.client(of: request, from: peer),
                peer: peer.ip
            )
            switch request.method {
            case .post: return try await signIn(request, visit, sender)
            case .get, .head:
                let users =
                    sender.isLocal ? try await service.signInChoices(apiToken: apiToken) : nil
                return html(visit.page.form(users ?? []), visit)
            default:
                return Response(status: .methodNotAllowed, headers: [.allow: "GET, POST"])
            }
        } catch {
            let refusal = service.refusal(error)
            return Response(status: .init(code: refusal.status))
        }
    }

    private static func refusal(ofCallback text: String) -> String {
        "You cannot be sent to \(text.prefix(200)) after signing in: the server does not know the "
            + "address. The server's operator can allow it."
    }

    private func visit(
        _ parameters: QueryParameters,
        _ apiToken: String,
        container: String
    ) -> SignInVisit {
        // Only pages that may call the server receive the token.
        let origin = parameters["origin"].flatMap { policy.allows(origin: $0) ? $0 : nil }
        let callback = parameters["redirect"].flatMap { policy.allows(callback: $0) ? $0 : nil }
        let query = [("ckAPIToken", apiToken), ("origin", origin), ("redirect", callback)]
            .compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
            .joined(separator: "&")
        let nonce = Hexadecimal.text(SystemRandomness().bytes(16))
        // Browsers also check where the response to a form redirects.
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

    /// Returns an address as a source in a content security policy.
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
        _ sender: SignInSender
    ) async throws -> Response {
        // A caller who may not sign in yet need not send a form. On this machine the form may name
        // a user without a password.
        if !sender.isLocal, let seconds = service.signInWait(address: sender.address) {
            observer.noteDelayedSignIn(from: sender)
            return wait(seconds, visit)
        }
        if let length = WholeBody(request).length, length > Self.formBytes {
            return html(visit.page.form(error: "The form is too long."), visit, .badRequest)
        }
        guard let form = await form(of: request) else {
            return html(visit.page.form(error: "The form came in part only."), visit, .badRequest)
        }
        if let user = form["user"] {
            let token =
                sender.isLocal
                ? try await service.signIn(apiToken: visit.apiToken, userRecordName: user) : nil
            if let token { return welcome(token, visit) }
            observer.noteRefusedSignIn(as: user, from: sender)
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
            address: sender.address
        )
        switch outcome {
        case .signedIn(let token): return welcome(token, visit)
        case .limited(let seconds):
            observer.noteDelayedSignIn(from: sender)
            return wait(seconds, visit, name: name)
        case .refused, .unknownApp:
            observer.noteRefusedSignIn(as: name, from: sender)
            let error = "The name or the password is wrong."
            return html(visit.page.form(name: name, error: error), visit, .forbidden)
        }
    }

    /// Returns a page that states when to try again.
    private func wait(_ seconds: Int, _ visit: SignInVisit, name: String = "") -> Response {
        let minutes = (seconds + 59) / 60
        let time = minutes == 1 ? "a minute" : "\(minutes) minutes"
        let error = "Too many tries failed. Wait \(time), and try again."
        var response = html(visit.page.form(name: name, error: error), visit, .tooManyRequests)
        response.headers[.retryAfter] = "\(seconds)"
        return response
    }

    /// Returns the fields of a form; nil if it is cut short or too long.
    private func form(of request: Request) async -> QueryParameters? {
        // A form that is too long, or cut, is no form: the caller refuses it.
        guard let bytes = try? await request.body.collect(upTo: Self.formBytes) else { return nil }
        let text = String(buffer: bytes).replacing("+", with: "%20")
        return QueryParameters(text)
    }

    /// Returns the page or redirect that delivers the token.
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
                // The address contains the app's token; with no referrer at all, browsers would
                // send no origin.
                .referrerPolicy: "same-origin",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

extension HTTPField.Name {
    static let referrerPolicy = Self("Referrer-Policy").unsafelyUnwrapped
}
