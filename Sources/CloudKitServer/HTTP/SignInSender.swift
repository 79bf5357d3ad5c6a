import Logging

/// The sender of a form for signing in.
struct SignInSender: Sendable {
    /// `true` for a request of this machine, which may name a user without a password.
    let isLocal: Bool
    /// The address for which tries are counted: the peer's, or what a proxy reports.
    let address: String
    /// The address of the connection's peer.
    let peer: String

    /// The sender in a line of the log.
    var metadata: Logger.Metadata { ["address": "\(address)", "peer": "\(peer)"] }
}
