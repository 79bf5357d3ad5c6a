import NIOCore

/// The peer of a connection, with properties of its address that are computed once for all requests
/// on the connection.
struct Peer: Sendable {
    /// The address; empty if there is none.
    let ip: String
    /// The address in its canonical spelling or, for IPv6, its 64-bit network.
    let network: String
    let isLoopback: Bool
    /// `true` when the peer is a trusted proxy.
    let isTrusted: Bool

    init(_ address: SocketAddress?, proxies: Set<String>) {
        ip = address?.ipAddress ?? ""
        network = OriginPolicy.network(of: ip) ?? ip
        isLoopback = OriginPolicy.isLoopback(ip)
        isTrusted = OriginPolicy.address(ip).map(proxies.contains) ?? false
    }
}
