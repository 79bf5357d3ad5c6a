public import Foundation

/// A response that the transport received.
public struct TransportResponse: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// Header fields by lower-case name.
    public var headers: [String: String]
    /// The body.
    public var body: Data

    /// Creates a response.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

extension TransportResponse: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The status and the size, without header fields and body, which contain tokens and users' data.
    public var description: String { "status \(status), \(body.count) bytes" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}
