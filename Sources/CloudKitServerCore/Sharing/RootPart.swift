#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a record that is or may become the root of a share has besides a record's own parts.
struct RootPart: Hashable, Sendable, Codable {
    /// The last part of the link of its share: of the one that there is, was or will be.
    var shortGUID: String

    /// The stored form.
    var stored: Data {
        get throws { try JSONEncoder().encode(self) }
    }
}
