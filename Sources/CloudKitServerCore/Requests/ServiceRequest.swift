#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request to the service, independent of any HTTP library.
public struct ServiceRequest: Sendable {
    /// The HTTP method, such as `POST`.
    public var method: String
    /// The path without its query, percent-encoded as received, such as `/database/1/…`.
    public var path: String
    /// The query without its question mark, as received; `nil` if there was none.
    public var query: String?
    /// The header fields in the order received.
    public var headers: [(name: String, value: String)]
    /// The body as received.
    public var body: Data
    /// The scheme, host and port at which the client reached the service, without a trailing slash;
    /// asset URLs in responses begin with it.
    public var baseURL: String
    /// The memory that the response counts toward; nil for no limit.
    package var responseMemory: (any ResponseMemory)?

    /// Creates a request.
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

    /// Returns the first value of a header field, ignoring letter case.
    package func header(_ name: String) -> String? {
        headers.first { Self.isSame($0.name.utf8, name.utf8) }?.value
    }

    /// Returns whether two names are equal, ignoring the case of ASCII letters.
    private static func isSame(_ first: String.UTF8View, _ second: String.UTF8View) -> Bool {
        guard first.count == second.count else { return false }
        return zip(first, second).allSatisfy { one, other in
            one == other || (one | 0x20 == other | 0x20 && (0x61...0x7A).contains(one | 0x20))
        }
    }
}
