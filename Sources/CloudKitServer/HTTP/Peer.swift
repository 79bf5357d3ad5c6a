import NIOCore

/// The other end of a connection: what its address means, found out once for all requests that come
/// over it.
struct Peer: Sendable {
    /// Its address; empty where it has none.
    let ip: String
    /// Its address in one spelling or, of IPv6, its network of 64 bits.
    let network: String
    let isLoopback: Bool
    /// Whether it is a proxy whose word is believed.
    let isTrusted: Bool

    init(_ address: SocketAddress?, proxies: Set<String>) {
        ip = address?.ipAddress ?? ""
        network = OriginPolicy.network(of: ip) ?? ip
        isLoopback = OriginPolicy.isLoopback(ip)
        isTrusted = OriginPolicy.address(ip).map(proxies.contains) ?? false
    }
}
