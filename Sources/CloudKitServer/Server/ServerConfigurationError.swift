import CloudKitServerCore
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// An error in the configuration, with which no server starts.
public struct ServerConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the error and its remedy.
    public var description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }

    /// Creates an error if a server cannot listen; returns nil for errors of other kinds.
    ///
    /// - Parameters:
    ///   - error: The system's error.
    ///   - configuration: The configuration of the server.
    init?(listening error: any Error, _ configuration: CloudServer.Configuration) {
        let (host, port) = (configuration.host, configuration.port)
        if error is SocketAddressError.UnknownHost {
            self.init("\(host) is no address of this machine; 127.0.0.1 is")
            return
        }
        guard let error = error as? IOError else { return nil }
        switch error.errnoCode {
        case EADDRINUSE:
            self.init(
                "Port \(port) of \(host) is in use by another program; stop that one, or take "
                    + "another port, such as a free one with --port 0"
            )
        case EACCES, EPERM:
            self.init(
                "The system does not let this user listen on port \(port); take one above 1023"
            )
        case EADDRNOTAVAIL:
            self.init("\(host) is no address of this machine; 127.0.0.1 is")
        default: return nil
        }
    }
}

extension CloudServer.Configuration {
    /// Refuses settings that are safe only for a server that no other machine can reach, invalid
    /// names, and limits that contradict each other.
    ///
    /// - Throws: `ServerConfigurationError`.
    package func check() throws(ServerConfigurationError) {
        guard storage == nil || (directory == nil && assets != nil) else {
            throw ServerConfigurationError(
                "storage is the place of all data; give it with assets, and without directory"
            )
        }
        // Which tokens were used is known to the server that took them alone.
        guard storage == nil || !service.rotatesWebTokens else {
            throw ServerConfigurationError(
                "service.rotatesWebTokens (--rotate-tokens) is for one server with its data in a folder: of "
                    + "servers that share a storage, each would end the sessions that others renewed; leave "
                    + "the setting, and shorten sessions (--session-days) instead"
            )
        }
        for origin in allowedOrigins where WebOrigin(origin) == nil {
            throw ServerConfigurationError(
                "allowedOrigins (--allowed-origin) has '\(origin)', which is no origin; one is a scheme, a host and a "
                    + "port or none, such as https://app.example.com"
            )
        }
        for host in allowedHosts where HostName(host) == nil {
            throw ServerConfigurationError(
                "allowedHosts (--allowed-host) has '\(host)', which is no name; one is "
                    + "cloud.example.com"
            )
        }
        for proxy in trustedProxies where !OriginPolicy.isAddress(proxy) {
            throw ServerConfigurationError(
                "trustedProxies (--trusted-proxy) has '\(proxy)', which is not an address alone; one is "
                    + "127.0.0.1, without a port and spaces"
            )
        }
        for callback in signInCallbacks where !OriginPolicy.canBeCallback(callback) {
            throw ServerConfigurationError(
                "signInCallbacks (--sign-in-callback) has '\(callback)', to which no user can be "
                    + "sent; an address is myapp://signed-in"
            )
        }
        guard service.requestBodyBytes <= memoryBytes / 2 else {
            throw ServerConfigurationError(
                "memoryBytes (--memory-bytes) is \(memoryBytes), of which one address may take half, "
                    + "and service.requestBodyBytes (--max-request-bytes) is "
                    + "\(service.requestBodyBytes), which would never fit; raise the first to twice the "
                    + "second, or lower the second"
            )
        }
        if let publicURL {
            guard let origin = WebOrigin(ofAddress: publicURL),
                ["http", "https"].contains(origin.scheme)
            else {
                throw ServerConfigurationError(
                    "publicURL (--public-url) is '\(publicURL)', which is not an address; one is "
                        + "https://cloud.example.com"
                )
            }
            guard !publicURL.contains(where: { "?#".contains($0) }) else {
                throw ServerConfigurationError(
                    "publicURL (--public-url) is '\(publicURL)', to which no path can be appended; leave out "
                        + "the query and the fragment, as in https://cloud.example.com"
                )
            }
        }
        guard !OriginPolicy(self).isPrivate else { return }
        let settings = [
            ("service.acceptsUserNames (--user-header)", service.acceptsUserNames),
            ("service.opensContainers (--any-container)", service.opensContainers),
            ("hasVirtualClock (--virtual-clock)", hasVirtualClock),
        ]
        for (name, isSet) in settings where isSet {
            throw ServerConfigurationError(
                "\(name) is safe only on a server that no other machine can reach; this one listens on "
                    + "\(host)\(names); leave the setting, or listen on 127.0.0.1 under no other "
                    + "name"
            )
        }
    }

    private var names: String {
        let names = [publicURL].compactMap(\.self) + allowedHosts.sorted()
        return names.isEmpty ? "" : " and is called \(names.joined(separator: ", "))"
    }
}
