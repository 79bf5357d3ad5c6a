public import CloudKitWire

/// An error of a request to the service that failed as a whole.
public enum WebClientError: Error, Sendable {
    /// The service refused the request, with this HTTP status.
    case refused(RequestError, status: Int)
    /// No response arrived.
    case transport(TransportError)
    /// The response is not from the service, or not in a form that this client knows; it may specify
    /// after how many seconds to retry.
    case unexpectedResponse(status: Int, message: String, retryAfter: Double? = nil)
    /// The request cannot be encoded: it contains a number that JSON does not support, such as
    /// infinity.
    case unwritable(message: String)
}

extension WebClientError {
    /// The seconds that the service, or a proxy, requests before a retry.
    package var retryAfter: Double? {
        switch self {
        case .refused(let refusal, _): refusal.retryAfter
        case .unexpectedResponse(_, _, let seconds): seconds
        case .transport, .unwritable: nil
        }
    }

    /// Converts an error of a transport; a transport of another package may throw any error.
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
    /// A description of the failure and, if known, of its remedy.
    public var description: String {
        switch self {
        case .refused(let error, let status):
            "\(error.serverErrorCode.rawValue) (\(status)): \(error.reason ?? "no reason given")"
        case .transport(let error): error.message
        case .unexpectedResponse(let status, let message, _):
            "The response is not from the service, or not in a known form "
                + "(HTTP status \(status)): \(message)"
        case .unwritable(let message): message
        }
    }
}
