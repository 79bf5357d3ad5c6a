public import Foundation

/// A request as the client hands it to its transport.
public struct TransportRequest: Hashable, Sendable {
    /// The HTTP method.
    public var method: String
    /// The absolute URL with its query.
    public var url: String
    /// Header fields by name.
    public var headers: [String: String]
    /// The body, if there is one.
    public var body: Data?
    /// Seconds until the transport gives up.
    public var timeout: Double
    /// Whether the request waits for something to happen, for as long as it takes: it must not hold
    /// up others.
    public var waits = false

    /// Makes a request.
    public init(
        method: String,
        url: String,
        headers: [String: String] = [:],
        body: Data? = nil,
        timeout: Double = 60
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}
