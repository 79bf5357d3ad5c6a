#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parts that the root or possible root of a share has in addition to other records' parts.
struct RootPart: Hashable, Sendable, Codable {
    /// The last part of its share's link, whether the share exists, has existed or may exist.
    var shortGUID: String

    /// The stored form.
    var stored: Data {
        get throws { try JSONEncoder().encode(self) }
    }
}
