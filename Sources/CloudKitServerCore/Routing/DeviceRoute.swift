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
}

extension CloudService {
    /// Returns the response observed from Apple's service, with the path that works.
    func missedDeviceRoute(_ request: ServiceRequest) -> ServiceResponse {
        var response = failure(
            RequestError(
                .badRequest,
                reason: "\(request.path) does not accept \(request.method); use "
                    + "/device/1/CONTAINER/ENVIRONMENT/tokens/create or …/register"
            )
        )
        response.status = 405
        response.headers.append(("Allow", "OPTIONS"))
        return response
    }
}
