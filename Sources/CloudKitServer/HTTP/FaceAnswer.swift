import CloudKitServerCore
import CloudKitWire
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An answer on its way out, with what is written down about it.
struct FaceAnswer: Sendable {
    var response: Response
    /// How it travels.
    var delivery = ServiceResponse.Delivery()
    /// What the service answered; nil for answers of the face itself, such as pages.
    var service: ServiceResponse?
    /// The body of the request that it answers, where that was read.
    var requestBody: Data?
    /// The path that was asked for, where the service has taken it apart.
    var path: ServicePath?
}
