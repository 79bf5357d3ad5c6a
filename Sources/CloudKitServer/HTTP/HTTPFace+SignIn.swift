import CloudKitServerCore
import CloudKitWire
import HTTPTypes
import Hummingbird
import NIOCore

extension HTTPFace {
    /// Shows the page for signing in, or signs in the user that was chosen on it.
    func signIn(_ request: Request) async -> Response {
        let parameters = request.uri.queryParameters
        let apiToken = parameters["ckAPIToken"].map(String.init) ?? ""
        var origin = parameters["origin"].map(String.init) ?? ""
        // The token is told to pages that may call the server, and to no others.
        if !policy.allows(origin: origin) { origin = "" }
        do {
            if request.method == .post {
                let form = try await request.body.collect(upTo: 4096)
                let chosen = String(buffer: form).split(separator: "=").last.map(String.init)
                let token = try await service.signIn(
                    apiToken: apiToken,
                    userRecordName: chosen ?? ""
                )
                if let token { return html(SignInPage.done(token: token, origin: origin)) }
            } else if let users = try await service.signInChoices(apiToken: apiToken) {
                return html(SignInPage.choices(users, apiToken: apiToken, origin: origin))
            }
        } catch {
            return Response(status: .internalServerError)
        }
        return Response(status: .notFound)
    }

    private func html(_ text: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=UTF-8",
                .cacheControl: "no-store",
                .contentSecurityPolicy:
                    "default-src 'none'; script-src 'unsafe-inline'; frame-ancestors 'none'; "
                    + "form-action 'self'",
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
