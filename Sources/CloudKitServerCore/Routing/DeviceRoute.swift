import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The paths of tokens for notifications: below `/device/`, although the documentation says `/database/`.
enum DeviceRoute {
    /// Returns whether a request follows the documentation, to which Apple's service responds with 405.
    static func isMissed(by request: ServiceRequest) -> Bool {
        let endings = [Endpoint.tokensCreate, .tokensRegister].map(\.rawValue)
        // Most requests are others, whose paths need not be parsed for it.
        guard request.path.hasPrefix("/database/"), endings.contains(where: request.path.hasSuffix),
            let path = ServicePath(request.path)
        else { return false }
        return endings.contains(path.endpoint)
    }

    /// Returns the error with the path that works.
    static func error(for request: ServiceRequest) -> RequestError {
        RequestError(
            .badRequest,
            reason: "\(request.path) does not accept \(request.method); use "
                + "/device/1/CONTAINER/ENVIRONMENT/tokens/create or …/register"
        )
    }
}
