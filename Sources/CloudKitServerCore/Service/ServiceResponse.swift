#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The service's answer to one request, free of any HTTP library.
public struct ServiceResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields.
    public var headers: [(name: String, value: String)]
    /// The body, JSON unless a header says otherwise.
    public var body: Data

    /// Makes an answer.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
