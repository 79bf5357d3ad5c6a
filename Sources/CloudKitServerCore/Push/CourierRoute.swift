/// The path at which clients wait for notifications, outside the protocol's own paths.
package enum CourierRoute {
    /// The path.
    package static let path = "/aps"

    /// Returns the path and query for a token.
    static func target(of token: String) -> String {
        "\(path)?tok=\(token)&ttl=\(PushToken.life / 1000)"
    }
}
