/// Which `Host` and `Origin` a request may carry.
///
/// A web page of any site can make a browser send requests to this machine. The two headers are
/// what such a page cannot choose freely, so a loopback server believes no request without them
/// being its own.
struct OriginPolicy: Sendable {
    /// Whether the server listens on loopback only.
    let isLoopback: Bool
    private let hosts: Set<String>
    private let origins: Set<String>

    init(_ configuration: CloudServer.Configuration) {
        isLoopback = Self.isLoopback(configuration.host)
        hosts = Set(configuration.allowedHosts.map { $0.lowercased() })
        origins = Set(configuration.allowedOrigins.map { $0.lowercased() })
    }

    /// Whether a request for a host (with or without a port) is answered.
    func allows(host: String) -> Bool {
        let name = Self.name(of: host)
        if Self.isLoopback(name) || hosts.contains(name) { return true }
        return !isLoopback && hosts.isEmpty && !name.isEmpty
    }

    /// Whether pages of an origin are answered.
    func allows(origin: String) -> Bool {
        let origin = origin.lowercased()
        if origins.contains(origin) { return true }
        for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
            return Self.isLoopback(Self.name(of: String(origin.dropFirst(scheme.count))))
        }
        return false
    }

    /// The name in a host, without its port, in lower case.
    private static func name(of host: String) -> String {
        let host = host.lowercased()
        if host.hasPrefix("[") {
            return host.dropFirst().split(separator: "]").first.map(String.init) ?? ""
        }
        return host.split(separator: ":", maxSplits: 1).first.map(String.init) ?? ""
    }

    private static func isLoopback(_ name: String) -> Bool {
        name == "localhost" || name.hasSuffix(".localhost") || name == "::1" || isLoopback4(name)
    }

    private static func isLoopback4(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
