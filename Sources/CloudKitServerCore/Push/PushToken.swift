#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A stored token for notifications; of its secret only a hash is stored.
struct PushToken: Hashable, Codable, Sendable {
    /// The user and the environment whose notifications the token receives.
    struct Registration: Hashable, Codable, Sendable {
        var environment: Int64
        var user: Int64
        /// The hash of the name that the client sends; nil if it sent none.
        var client: Data?
    }

    /// The number of milliseconds for which a token is valid after its last use, as in Apple's URLs.
    static let life: Int64 = 12 * 60 * 60 * 1000
    /// The maximum number of a user's tokens in one environment.
    static let countLimit = 50

    /// The registrations, one for each environment.
    var registrations: [Registration] = []
    /// The time, in milliseconds since 1970-01-01 UTC, after which the token receives nothing.
    var expires: Int64
    /// The number on the app's icon.
    var badge: Int64 = 0
}

/// The path at which clients wait for notifications, outside the protocol's own paths.
package enum CourierRoute {
    /// The path.
    package static let path = "/aps"

    /// Returns the path and query for a token.
    static func target(of token: String) -> String {
        "\(path)?tok=\(token)&ttl=\(PushToken.life / 1000)"
    }
}
