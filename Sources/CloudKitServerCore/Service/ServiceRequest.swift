#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One request to the service, free of any HTTP library.
public struct ServiceRequest: Sendable {
    /// The HTTP method, such as `POST`.
    public var method: String
    /// The path without its query, percent-encoded as received, such as `/database/1/…`.
    public var path: String
    /// The query without its question mark, as received; nil when there was none.
    public var query: String?
    /// The header fields in the order received.
    public var headers: [(name: String, value: String)]
    /// The body as received.
    public var body: Data
    /// The scheme, host and port under which the client reached the service, without a trailing
    /// slash; asset URLs in answers start with it.
    public var baseURL: String

    /// Makes a request.
    public init(
        method: String,
        path: String,
        query: String? = nil,
        headers: [(name: String, value: String)] = [],
        body: Data = Data(),
        baseURL: String
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.baseURL = baseURL
    }

    /// The first value of a header field, whatever its case.
    package func header(_ name: String) -> String? {
        headers.first { Self.isSame($0.name.utf8, name.utf8) }?.value
    }

    /// Whether two names are one but for the case of ASCII letters.
    private static func isSame(_ first: String.UTF8View, _ second: String.UTF8View) -> Bool {
        guard first.count == second.count else { return false }
        return zip(first, second).allSatisfy { one, other in
            one == other || (one | 0x20 == other | 0x20 && (0x61...0x7A).contains(one | 0x20))
        }
    }
}
