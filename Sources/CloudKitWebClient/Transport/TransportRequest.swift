public import Foundation

/// A request that the client passes to its transport.
public struct TransportRequest: Hashable, Sendable {
    /// The HTTP method.
    public var method: String
    /// The absolute URL with its query.
    public var url: String
    /// Header fields by name.
    public var headers: [String: String]
    /// The body, if there is one.
    public var body: Data?
    /// Seconds without any byte, once the request is in flight, after which the transport gives up.
    public var timeout: Double
    /// A Boolean value that indicates whether the request waits for something to happen, for as long
    /// as it takes: it must not hold up others.
    public var waits = false

    /// Creates a request.
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

extension TransportRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The method and the server, without the rest of the address, the header fields and the body,
    /// which contain tokens and users' data.
    public var description: String {
        // A description notes that the address is unusable; sending throws the reason.
        let server = (try? ServerAddress(url))?.origin ?? "an unusable address"
        return "\(method) to \(server), \(body?.count ?? 0) bytes"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
