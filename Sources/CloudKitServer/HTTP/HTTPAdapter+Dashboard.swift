import CloudKitWire
import HTTPTypes
import Hummingbird

// The dashboard: files without any data in them. Its scripts use the same routes as other clients,
// with the key for operators.
extension HTTPAdapter {
    /// Responds to a request for one of the page's files.
    func dashboard(_ request: Request) -> AdapterResponse {
        // Without routes for operators, the page has nothing to show.
        guard administration.key != nil else {
            return noSuchRoute(request, "; start the server with a key for operators")
        }
        guard request.method == .get || request.method == .head else {
            return AdapterResponse(
                response: Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
            )
        }
        let path = request.uri.path
        guard path != "/_" else {
            return AdapterResponse(
                response: Response(
                    status: .permanentRedirect,
                    headers: [.location: DashboardPage.path]
                )
            )
        }
        guard let file = DashboardPage.file(at: path) else { return noSuchRoute(request) }
        let gzip = Self.acceptsGzip(request) ? file.gzip : nil
        var headers = Self.pageHeaders
        // Each encoding of a file has its own tag.
        headers[.eTag] = gzip == nil ? "\"\(file.tag)\"" : "\"\(file.tag)-gzip\""
        if request.headers[.ifNoneMatch] == headers[.eTag] {
            return AdapterResponse(response: Response(status: .notModified, headers: headers))
        }
        headers[.contentType] = file.type
        if gzip != nil { headers[.contentEncoding] = "gzip" }
        return AdapterResponse(
            response: Response(
                status: .ok,
                headers: headers,
                body: ResponseBody(byteBuffer: gzip ?? file.bytes)
            )
        )
    }

    /// Returns whether a browser accepts compressed files.
    ///
    /// A browser that sends quality values for encodings receives the uncompressed file.
    private static func acceptsGzip(_ request: Request) -> Bool {
        request.headers[values: .acceptEncoding].contains { value in
            value.split(separator: ",").contains { $0.filter { !$0.isWhitespace } == "gzip" }
        }
    }

    private static let pageHeaders: HTTPFields = [
        // Another version of the server has different files under the same names.
        .cacheControl: "no-cache",
        .vary: "Accept-Encoding",
        .contentSecurityPolicy: DashboardPage.contentPolicy,
        .xContentTypeOptions: "nosniff",
        .referrerPolicy: "same-origin",
        .frameOptions: "DENY",
        .openerPolicy: "same-origin",
        .resourcePolicy: "same-origin",
    ]
}

extension HTTPField.Name {
    fileprivate static let frameOptions = Self("X-Frame-Options").unsafelyUnwrapped
    fileprivate static let openerPolicy = Self("Cross-Origin-Opener-Policy").unsafelyUnwrapped
    fileprivate static let resourcePolicy = Self("Cross-Origin-Resource-Policy").unsafelyUnwrapped
}
