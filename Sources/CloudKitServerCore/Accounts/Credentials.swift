import CloudKitWire

/// What a request brings to prove who sends it.
struct Credentials: Sendable {
    let parameters: QueryParameters
    let apiToken: String?
    /// The web auth token as it came; nil when there was none.
    let webTokenText: String?
    /// The web auth token; nil when this service did not make it.
    let webToken: WebToken?
    private let isSigned: Bool

    init(_ request: ServiceRequest, _ seal: TokenSeal) {
        parameters = QueryParameters(request.query)
        apiToken = parameters["ckAPIToken"]
        let text = parameters["ckWebAuthToken"].flatMap { $0.isEmpty ? nil : $0 }
        webTokenText = text
        // A plus sign that was not escaped arrives as a space.
        webToken = text.flatMap { text in
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            return WebToken(parts.joined(separator: "+"), seal)
        }
        isSigned = request.header("X-Apple-CloudKit-Request-KeyID") != nil
    }

    /// Under what the caller is kept; nil for what must be checked each time.
    func cacheKey(_ path: ServicePath) -> CallerCache.Key? {
        guard !isSigned, let apiToken, (webTokenText == nil) == (webToken == nil) else {
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
