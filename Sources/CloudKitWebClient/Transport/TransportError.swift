/// Why a transport brought no answer.
public struct TransportError: Error, Sendable {
    /// The kinds of failure; an open set.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The kind's name.
        public var rawValue: String

        /// Makes a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The address is none that a request can be sent to: nothing was sent.
        public static let badAddress = Self(rawValue: "badAddress")
        /// The server's certificate is not trusted, or ours not by the server: nothing was sent, and
        /// trying again does not help.
        public static let untrusted = Self(rawValue: "untrusted")
        /// Another user signed in, or the user out, since the work began; it was not sent for the
        /// other one.
        public static let userChanged = Self(rawValue: "userChanged")
        /// No connection could be made: the request did not reach the server.
        public static let unreachable = Self(rawValue: "unreachable")
        /// The connection broke: the request may have reached the server.
        public static let broken = Self(rawValue: "broken")
        /// There was no answer in time: the request may have reached the server.
        public static let timedOut = Self(rawValue: "timedOut")
        /// The time for the whole call was over: a request may have reached the server.
        public static let overdue = Self(rawValue: "overdue")
        /// The task was cancelled.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The file to upload does not exist.
        public static let fileNotFound = Self(rawValue: "fileNotFound")
        /// The file to upload cannot be read, or the one to download cannot be written.
        public static let fileUnusable = Self(rawValue: "fileUnusable")
        /// The server of a file sends more bytes than the file has, or does not say how many it sends;
        /// or an answer is longer than any may be.
        public static let oversized = Self(rawValue: "oversized")
        /// The server of a file does not have it, or not under this address any more.
        public static let gone = Self(rawValue: "gone")
        /// The server of a file answered with another error status, or the app's HTTP client followed a
        /// redirect.
        public static let refused = Self(rawValue: "refused")
    }

    /// What kind of failure it is.
    public var code: Code
    /// What happened and what to do, with the server or the file, and without tokens and links.
    public var message: String
    /// The error underneath, if there was one.
    public var cause: (any Error)?

    /// Makes an error.
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
