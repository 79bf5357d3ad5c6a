#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A response of the service, independent of any HTTP library.
public struct ServiceResponse: Sendable {
    /// The way in which a response is sent: complete and immediately, unless a fault changes that.
    public struct Delivery: Hashable, Sendable {
        /// The part of a response that arrives.
        public enum End: Hashable, Sendable {
            /// The complete response.
            case whole
            /// The head and the first bytes of the body; then the connection ends.
            case cut(bytes: Int)
            /// Nothing; the connection ends.
            case lost
        }

        /// The number of milliseconds to wait before the response.
        public var delayMilliseconds = 0
        /// The rate at which the body is sent; `nil` for no limit.
        public var bytesPerSecond: Int?
        /// The part of the response that arrives.
        public var end = End.whole

        /// Creates the delivery of a complete, immediate response.
        public init() {}
    }

    /// The HTTP status.
    public var status: Int
    /// The header fields.
    public var headers: [(name: String, value: String)]
    /// The body, which is JSON unless a header specifies another type.
    public var body: Data
    /// The way in which the response is sent; an adapter over the service implements it.
    public var delivery = Delivery()
    /// The rules of the fault plan that took effect, by index.
    package var faultRules: [Int] = []
    /// The record name of the user who sent the request; nil if there is none.
    package var userRecordName: String?
    /// The cause of an internal error, for the operator; free of user data.
    package var cause: String?

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
