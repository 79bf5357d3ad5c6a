import CloudKitBasics
import CloudKitServerCore
import CloudKitServerSQLite
import HTTPTypes
import Hummingbird
import NIOCore

// The routes for health checks and the page at the server's address. They return no data, so they
// require neither a key nor a host name.
extension HTTPAdapter {
    private static let livePath = "/health/live"
    private static let readyPath = "/health/ready"

    /// Returns whether a path is a health check, whose requests are not counted.
    static func isHealth(_ path: String) -> Bool { path == livePath || path == readyPath }

    /// Responds to a health check; returns nil for other requests.
    ///
    /// A load balancer may use any host name for the server.
    func health(_ request: Request) async -> AdapterResponse? {
        guard Self.isHealth(request.uri.path) else { return nil }
        guard request.method == .get || request.method == .head else {
            return AdapterResponse(
                response: Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
            )
        }
        let problem = request.uri.path == Self.livePath ? nil : await service.unreadiness()
        return AdapterResponse(
            response: Response(
                status: problem == nil ? .ok : .serviceUnavailable,
                headers: [
                    .contentType: "application/json; charset=UTF-8", .cacheControl: "no-store",
                ],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(
                        string: problem.map { #"{"status":"unavailable","reason":"\#($0)"}"# }
                            ?? #"{"status":"ok"}"#
                    )
                )
            )
        )
    }

    /// Returns the page at the server's address, which describes the server and how an app reaches it.
    func welcomePage(_ request: Request, _ context: AdapterContext) -> AdapterResponse {
        let url =
            publicURL ?? policy.baseURL(of: request, from: peer(context))
        let nonce = Hexadecimal.text(SystemRandomness().bytes(16))
        let text = HTMLPage(nonce: nonce).text(
            "Server",
            """
            <h1>A CloudKit server</h1>
            <p>Apps reach their containers here, as they reach iCloud's: with CloudKit's module for \
            Linux, with CloudKit JS, or with any client of CloudKit Web Services.</p>
            <p>Its address is <code>\(HTMLPage.escape(url))</code>.</p>
            <p><a href="\(Self.readyPath)">Is it ready?</a></p>
            """
        )
        return AdapterResponse(
            response: Response(
                status: .ok,
                headers: [
                    .contentType: "text/html; charset=UTF-8", .cacheControl: "no-store",
                    .contentSecurityPolicy: "default-src 'none'; style-src 'nonce-\(nonce)'; "
                        + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
                    .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text))
            )
        )
    }
}
