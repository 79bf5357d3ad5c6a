public import CloudKitWire

/// Why a request to the service failed as a whole.
public enum WebClientError: Error, Sendable {
    /// The service refused the request, with this HTTP status.
    case refused(RequestError, status: Int)
    /// No answer came.
    case transport(TransportError)
    /// What answered is not the service, or not in a form that this client knows; it may have said
    /// after how many seconds to try again.
    case unexpectedAnswer(status: Int, message: String, retryAfter: Double? = nil)
    /// The request cannot be written: a number that JSON does not know, such as infinity.
    case unwritable(message: String)
}

extension WebClientError {
    /// What a transport threw: one that is not of this package may throw what it likes.
    init(thrown error: any Error) {
        switch error {
        case let error as TransportError: self = .transport(error)
        case _ where Task.isCancelled, is CancellationError:
            self = .transport(
                TransportError(.cancelled, message: "The request was cancelled", cause: error)
            )
        default: self = .transport(TransportError(.broken, message: "\(error)", cause: error))
        }
    }
}

extension WebClientError: CustomStringConvertible {
    /// What happened, and what to do where that is known.
    public var description: String {
        switch self {
        case .refused(let error, let status):
            "\(error.serverErrorCode.rawValue) (\(status)): \(error.reason ?? "no reason given")"
        case .transport(let error): error.message
        case .unexpectedAnswer(let status, let message, _):
            "What answered is not the service, or not in a form that is known "
                + "(HTTP status \(status)): \(message)"
        case .unwritable(let message): message
        }
    }
}
