#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A token for notifications as it is stored; its secret is known by a hash only.
struct PushToken: Hashable, Codable, Sendable {
    /// Whose notifications of one environment the token receives.
    struct Registration: Hashable, Codable, Sendable {
        var environment: Int64
        var user: Int64
        /// The hash of the name that the client gives itself; nil when it gave none.
        var client: Data?
    }

    /// Milliseconds for which a token is good after it was last asked for, as Apple's URLs say.
    static let life: Int64 = 12 * 60 * 60 * 1000
    /// Tokens that a user has in one environment at most.
    static let countLimit = 50

    /// One for each environment.
    var registrations: [Registration] = []
    /// Milliseconds since 1970-01-01 UTC after which the token receives nothing more.
    var expires: Int64
    /// The number on the app's icon.
    var badge: Int64 = 0
}
