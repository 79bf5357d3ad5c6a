import CloudKitWire

/// The credentials of a request.
struct Credentials: Sendable {
    let parameters: QueryParameters
    let apiToken: String?
    /// The web auth token as received; nil if there was none.
    let webTokenText: String?
    /// The web auth token; nil if this service did not create it.
    let webToken: WebToken?
    /// The user name that the request claims; nil if names are not accepted.
    let userName: String?
    private let isSigned: Bool

    init(_ request: ServiceRequest, _ seal: TokenSeal, acceptsUserNames: Bool) {
        let name = acceptsUserNames ? request.header("X-CloudKit-User") : nil
        let words = (name ?? "").split(separator: " ").joined(separator: " ")
        userName = (1...255).contains(words.utf8.count) ? words : nil
        parameters = QueryParameters(request.query)
        apiToken = parameters["ckAPIToken"]
        let text = [parameters["ckWebAuthToken"], Self.session(of: request, parameters)]
            .compactMap(\.self).first { !$0.isEmpty }
        webTokenText = text
        // An unescaped plus sign arrives as a space.
        webToken = text.flatMap { text in
            let bytes = text.utf8.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }
            return WebToken(String(decoding: bytes, as: UTF8.self), seal)
        }
        isSigned = request.header("X-Apple-CloudKit-Request-KeyID") != nil
    }

    /// The header in which CloudKit JS 1.x sends and receives the web auth token.
    static let sessionHeader = "X-Apple-CloudKit-Session"

    /// Returns the web auth token under the names of CloudKit JS 1.x; nil if it is under none of them.
    static func session(of request: ServiceRequest, _ parameters: QueryParameters) -> String? {
        parameters["ckSession"] ?? request.header(sessionHeader)
    }

    /// Returns the key under which the caller is cached; nil for credentials that must be checked
    /// each time.
    func cacheKey(_ path: ServicePath) -> CallerCache.Key? {
        guard !isSigned, userName == nil, let apiToken, (webTokenText == nil) == (webToken == nil)
        else {
            return nil
        }
        return CallerCache.Key(
            container: path.container,
            environment: path.environment,
            apiToken: apiToken,
            session: webToken?.secret
        )
    }
}
