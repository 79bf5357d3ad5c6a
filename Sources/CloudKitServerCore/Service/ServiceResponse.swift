#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The service's answer to one request, free of any HTTP library.
public struct ServiceResponse: Sendable {
    /// How an answer travels to the client; whole and at once unless a fault was asked for.
    public struct Delivery: Hashable, Sendable {
        /// How much of an answer arrives.
        public enum End: Hashable, Sendable {
            /// All of it.
            case whole
            /// The head, and the first bytes of the body; then the connection ends.
            case cut(bytes: Int)
            /// Nothing: the connection ends.
            case lost
        }

        /// Milliseconds to wait before the answer.
        public var delayMilliseconds = 0
        /// How fast the body travels; nil for as fast as it can.
        public var bytesPerSecond: Int?
        /// How much of the answer arrives.
        public var end = End.whole

        /// Makes the delivery of a whole answer at once.
        public init() {}
    }

    /// The HTTP status.
    public var status: Int
    /// The header fields.
    public var headers: [(name: String, value: String)]
    /// The body, JSON unless a header says otherwise.
    public var body: Data
    /// How the answer travels; a face over the service carries it out.
    public var delivery = Delivery()
    /// The rules of the plan of faults that took effect, by place.
    package var faultRules: [Int] = []
    /// The record name of the user whose request it answers; nil for nobody's.
    package var userRecordName: String?
    /// What failed inside the service, for the operator; free of user data.
    package var cause: String?

    /// Makes an answer.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
