import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    func queryRecords(_ call: Call) async throws -> Data {
        throw RequestError(.notFound, reason: "not yet")
    }
}
