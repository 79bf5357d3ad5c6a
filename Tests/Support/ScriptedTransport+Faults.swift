public import CloudKitWebClient
import Foundation
import Synchronization

extension ScriptedTransport {
    /// The possible faults of a request.
    public enum Fault: String, CaseIterable, Sendable {
        /// The request does not arrive.
        case cut
        /// The request arrives, its response does not.
        case lost
        /// The service responds that it is busy.
        case throttled
        /// The service no longer knows the user.
        case unauthenticated
    }

    /// Returns a transport on which one request of an endpoint meets a fault: the first, or the one
    /// after `passed` others.
    public static func failing(
        _ path: String,
        _ fault: Fault,
        after passed: Int = 0,
        over base: any Transport
    ) -> any Transport {
        let ahead = Array(repeating: (path: path, fault: Fault?.none), count: passed)
        return failing(ahead + [(path, fault)], over: base)
    }

    /// Returns a transport on which requests meet faults.
    ///
    /// Each fault is for the next request to its endpoint; nil lets that request pass.
    public static func failing(
        _ faults: [(path: String, fault: Fault?)],
        over base: any Transport
    ) -> any Transport {
        let pending = Mutex(faults)
        return ScriptedTransport { request, _ in
            let fault = pending.withLock { pending -> Fault? in
                let place = pending.firstIndex { request.isAbout($0.path) }
                return place.flatMap { pending.remove(at: $0).fault }
            }
            switch fault {
            case nil: return nil
            case .cut: throw TransportError(.broken, message: "cut")
            case .lost:
                _ = try await base.send(request)
                throw TransportError(.broken, message: "lost")
            case .throttled:
                return .refusal(
                    429,
                    #"{"serverErrorCode":"THROTTLED","reason":"busy","retryAfter":1,"uuid":"u"}"#
                )
            case .unauthenticated:
                return .refusal(
                    401,
                    #"{"serverErrorCode":"AUTHENTICATION_FAILED","reason":"no user","uuid":"u"}"#
                )
            }
        }.over(base)
    }
}

extension TransportResponse {
    /// Returns a successful response with a text.
    public static func ok(_ body: String = "") -> TransportResponse {
        TransportResponse(status: 200, body: Data(body.utf8))
    }

    /// Returns a response with an error status and a text.
    public static func refusal(_ status: Int, _ body: String) -> TransportResponse {
        TransportResponse(status: status, body: Data(body.utf8))
    }
}
