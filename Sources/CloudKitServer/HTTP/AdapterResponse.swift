import CloudKitServerCore
import CloudKitWire
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An outgoing response, with the data that is recorded about it.
struct AdapterResponse: Sendable {
    var response: Response
    /// The way in which the response is sent.
    var delivery = ServiceResponse.Delivery()
    /// The service's response; nil for responses of the adapter itself, such as pages.
    var service: ServiceResponse?
    /// The memory that was reserved for the response.
    var memory: Connections.Memory?
    /// The body of the request, if it was read.
    var requestBody: Data?
    /// The requested path, if the service has parsed it.
    var path: ServicePath?
}
