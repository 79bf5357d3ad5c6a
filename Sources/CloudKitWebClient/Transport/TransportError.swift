/// An error that indicates that a transport received no response.
public struct TransportError: Error, Sendable {
    /// The kind of a failure; further kinds may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The kind's name.
        public var rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No request can be sent to the address: nothing was sent.
        public static let badAddress = Self(rawValue: "badAddress")
        /// The server's certificate is not trusted, or the server does not trust ours: nothing was
        /// sent, and a retry does not help.
        public static let untrusted = Self(rawValue: "untrusted")
        /// Another user signed in, or the user signed out, since the work began; it was not sent for
        /// the other one.
        public static let userChanged = Self(rawValue: "userChanged")
        /// No connection could be established: the request did not reach the server.
        public static let unreachable = Self(rawValue: "unreachable")
        /// The connection broke: the request may have reached the server.
        public static let broken = Self(rawValue: "broken")
        /// No response arrived in time: the request may have reached the server.
        public static let timedOut = Self(rawValue: "timedOut")
        /// The time for the whole call has passed: a request may have reached the server.
        public static let overdue = Self(rawValue: "overdue")
        /// The task was cancelled.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The file to upload does not exist.
        public static let fileNotFound = Self(rawValue: "fileNotFound")
        /// The file to upload cannot be read, or the one to download cannot be written.
        public static let fileUnusable = Self(rawValue: "fileUnusable")
        /// The server of a file sends more bytes than the file contains, or does not announce their
        /// number; or a response is longer than allowed.
        public static let oversized = Self(rawValue: "oversized")
        /// The server of a file does not have it, or no longer under this address.
        public static let notFound = Self(rawValue: "notFound")
        /// The server of a file responded with another error status, or the app's HTTP client
        /// followed a redirect.
        public static let refused = Self(rawValue: "refused")
    }

    /// The kind of failure.
    public var code: Code
    /// A description of the failure and of its remedy, with the server or the file, and without
    /// tokens and links.
    public var message: String
    /// The underlying error, if any.
    public var cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension TransportError: CustomStringConvertible {
    /// The kind and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
