import HTTPTypes
import Hummingbird
import NIOCore

/// The rules for the `Host` and `Origin` of requests, and for requests from this machine.
///
/// A web page of any site can make a browser send requests to this machine, but it cannot choose
/// these two headers freely. The server therefore accepts a request only for one of its own host
/// names and, if it has an `Origin`, from a page on loopback, of its address or of an allowed origin.
struct OriginPolicy: Sendable {
    /// `true` when only this machine is meant to reach the server: it listens on loopback, and no
    /// outside name leads to it.
    let isPrivate: Bool
    /// `true` when any peer on this machine may be the proxy through which others reach the server,
    /// because none was named.
    let isBehindProxy: Bool
    private let allowsAnyName: Bool
    private let hosts: Set<String>
    private let origins: Set<WebOrigin>
    private let callbacks: Set<String>
    /// The addresses of trusted proxies.
    let proxies: Set<String>

    init(_ configuration: CloudServer.Configuration) {
        let isLoopback = HostName(configuration.bindHost)?.isLoopback ?? false
        let own = configuration.publicURL.flatMap(WebOrigin.init(ofAddress:))
        let names =
            configuration.allowedHosts.compactMap { HostName($0) } + (own.map { [$0.host] } ?? [])
        proxies = Set(configuration.trustedProxies.compactMap(Self.address))
        let isOpen = !isLoopback || names.contains { !$0.isLoopback } || !proxies.isEmpty
        isPrivate = !isOpen
        isBehindProxy = isLoopback && isOpen && proxies.isEmpty
        hosts = Set(names.map(\.name))
        allowsAnyName = !isLoopback && configuration.allowedHosts.isEmpty
        origins = Set(
            configuration.allowedOrigins.compactMap { WebOrigin($0) } + (own.map { [$0] } ?? [])
        )
        callbacks = configuration.signInCallbacks
    }

    /// Returns whether requests for a host (with or without a port) are accepted.
    func allows(host text: String) -> Bool {
        guard let host = HostName(text) else { return false }
        return host.isLoopback || hosts.contains(host.name) || allowsAnyName
    }

    /// Returns whether requests from pages of an origin are accepted.
    func allows(origin text: String) -> Bool {
        guard let origin = WebOrigin(text) else { return false }
        return origin.isLoopback || origins.contains(origin)
    }

    /// Returns whether a request comes from the server's own pages.
    func isOwn(origin text: String, _ request: Request, from peer: Peer) -> Bool {
        guard let origin = WebOrigin(text), ["http", "https"].contains(origin.scheme),
            let host = authority(of: request, from: peer).flatMap({ HostName($0) })
        else { return false }
        // The server cannot see whether a proxy uses TLS.
        let ports = host.port.map { [$0] } ?? [80, 443]
        return origin.host.name == host.name && ports.contains(origin.host.port ?? 0)
    }

    /// Returns whether a signed-in user may be redirected to an address with the token.
    ///
    /// Loopback addresses belong to programs on the user's own machine; other addresses are either
    /// named by the operator, or are pages of an origin that may call the server.
    func allows(callback text: String) -> Bool {
        if callbacks.contains(text) { return true }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#"),
            let origin = WebOrigin(ofAddress: text), ["http", "https"].contains(origin.scheme)
        else { return false }
        return origin.isLoopback || origins.contains(origin)
    }

    /// Returns whether an operator may name an address for `allows(callback:)`: it has a scheme,
    /// and none that would run or read something in the browser.
    static func canBeCallback(_ text: String) -> Bool {
        guard let end = text.firstIndex(of: ":"), text.index(after: end) < text.endIndex,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return false }
        let scheme = text[..<end].lowercased()
        return scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
            && !["javascript", "data", "vbscript", "file", "blob", "about"].contains(scheme)
    }

    /// Returns whether a request comes from this machine: over a loopback connection, for a
    /// loopback name, and with no sign of having been forwarded.
    func isLocal(_ request: Request, from peer: Peer) -> Bool {
        guard isPrivate, peer.isLoopback,
            let host = request.head.authority.flatMap({ HostName($0) }), host.isLoopback
        else { return false }
        return !request.headers.contains { Self.isForwarding($0.name.canonicalName) }
    }

    /// Returns the host for which a request was made: the one that a trusted proxy reports, or `Host`.
    func authority(of request: Request, from peer: Peer) -> String? {
        forwarded(.xForwardedHost, request, peer) ?? request.head.authority
    }

    /// Returns the URL, without a path, at which the request's client reaches the server.
    func baseURL(of request: Request, from peer: Peer) -> String {
        let scheme = forwarded(.xForwardedProto, request, peer)?.lowercased()
        let authority = authority(of: request, from: peer) ?? "localhost"
        return (scheme == "https" ? "https://" : "http://") + authority
    }

    /// Returns whether a request was forwarded by a proxy that is not trusted to name its client.
    func isForwardedByUntrustedProxy(_ request: Request, from peer: Peer) -> Bool {
        !peer.isTrusted
            && request.headers.contains { Self.isForwarding($0.name.canonicalName) }
    }

    /// Returns a trusted proxy's value of a header: the last one, which is its own.
    private func forwarded(
        _ name: HTTPField.Name,
        _ request: Request,
        _ peer: Peer
    ) -> String? {
        guard peer.isTrusted else { return nil }
        let last = request.headers[values: name].last?.split(separator: ",").last
        return last.map { $0.filter { !$0.isWhitespace } }
    }

    /// Returns the client of a request, for counts by address.
    ///
    /// That is the peer of the connection or, behind a proxy, the client that the proxy reports.
    /// The last name is the proxy's own statement; earlier ones may be forged. A name that is not
    /// an address counts toward no client in particular.
    func client(of request: Request, from peer: Peer) -> String {
        guard isBehindProxy && peer.isLoopback || peer.isTrusted,
            let last = request.headers[values: .xForwardedFor].last?.split(separator: ",").last
        else { return peer.network }
        return Self.network(of: String(last)) ?? peer.ip
    }

    /// Returns an address, or for IPv6 the 64-bit network that one customer has.
    ///
    /// The result is the same for all spellings of an address, with or without brackets, a port or
    /// a scope; nil if the text is not an address.
    static func network(of text: String) -> String? {
        guard let ip = address(text) else { return nil }
        guard ip.contains(":") else { return ip }
        let ends = ip.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        var words = ends.map { $0.split(separator: ":") }
        let count = words.reduce(0) { $0 + $1.count }
        if words.count == 2, count < 8 {
            words.insert(Array(repeating: "0", count: 8 - count), at: 1)
        }
        return words.joined().prefix(4).joined(separator: ":") + "::/64"
    }

    /// Returns an address in the system's canonical spelling; nil if the text is not an address.
    static func address(_ text: String) -> String? {
        var text = text.filter { !$0.isWhitespace && $0 != "\"" }[...]
        if text.hasPrefix("[") {
            text = text.dropFirst().prefix { $0 != "]" }
        } else if text.count(where: { $0 == ":" }) == 1 {
            text = text.prefix { $0 != ":" }
        }
        text = text.prefix { $0 != "%" }
        // Any other text is a name.
        guard let ip = try? SocketAddress(ipAddress: String(text), port: 0).ipAddress else {
            return nil
        }
        return ip.hasPrefix("::ffff:") && ip.contains(".") ? String(ip.dropFirst(7)) : ip
    }

    /// Returns whether a text is an address alone, without the port or spaces that a header may add.
    static func isAddress(_ text: String) -> Bool {
        let hasPort = text.count { $0 == ":" } == 1 || text.contains("]:")
        return !hasPort && !text.contains { $0.isWhitespace || $0 == "\"" } && address(text) != nil
    }

    static func isLoopback(_ ip: String) -> Bool {
        HostName(ip.contains(":") ? "[\(ip)]" : ip)?.isLoopback ?? false
    }

    /// Returns whether a header is one that proxies add, judging by the words in its name.
    private static func isForwarding(_ name: String) -> Bool {
        forwardingNames.contains(name) || forwardingPrefixes.contains { name.hasPrefix($0) }
            || name.hasSuffix("-ip") || name.hasSuffix("clientip")
            || name.utf8.indices.contains { name.utf8[$0...].starts(with: "forwarded".utf8) }
    }

    private static let forwardingPrefixes = ["x-envoy-", "cf-", "x-arr-"]
    private static let forwardingNames: Set = [
        "via", "cdn-loop", "x-original-host", "x-original-url", "x-rewrite-url", "x-host",
        "x-remote-addr", "x-amzn-trace-id", "x-request-start", "x-scheme", "x-url-scheme",
        "front-end-https",
    ]
}

extension HTTPField.Name {
    static let xForwardedFor = Self("X-Forwarded-For").unsafelyUnwrapped
    static let xForwardedHost = Self("X-Forwarded-Host").unsafelyUnwrapped
    static let xForwardedProto = Self("X-Forwarded-Proto").unsafelyUnwrapped
}

extension CloudServer.Configuration {
    /// The address to listen on, as written in URLs.
    fileprivate var bindHost: String { host.contains(":") ? "[\(host)]" : host }
}
