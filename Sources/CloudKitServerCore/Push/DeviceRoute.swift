import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The paths of tokens for notifications: below `/device/`, though the documents say `/database/`.
enum DeviceRoute {
    /// Whether a request follows the documents, where Apple's service answers 405.
    static func isMissed(by request: ServiceRequest) -> Bool {
        guard request.path.hasPrefix("/database/"), let path = ServicePath(request.path) else {
            return false
        }
        return [Endpoint.tokensCreate, .tokensRegister].contains { $0.rawValue == path.endpoint }
    }
}

extension CloudService {
    /// What Apple's service was observed to answer, and the path that works.
    func missedDeviceRoute(_ request: ServiceRequest) -> ServiceResponse {
        var response = failure(
            RequestError(
                .badRequest,
                reason: "\(request.path) takes no \(request.method); ask "
                    + "/device/1/CONTAINER/ENVIRONMENT/tokens/create or …/register"
            )
        )
        response.status = 405
        response.headers.append(("Allow", "OPTIONS"))
        return response
    }
}
