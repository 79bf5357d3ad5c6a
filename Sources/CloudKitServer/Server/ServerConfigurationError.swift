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

/// A configuration that no server starts with.
public struct ServerConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do about it.
    public var description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }

    /// Why a server cannot listen; nil for errors about something else.
    ///
    /// - Parameters:
    ///   - error: What the system said.
    ///   - configuration: Where the server was to listen.
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
    /// Refuses what is fit for the own machine only on a server that others can reach, and names
    /// that are none.
    func check(isPrivate: Bool) throws(ServerConfigurationError) {
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
        for proxy in trustedProxies where OriginPolicy.address(proxy) == nil {
            throw ServerConfigurationError(
                "trustedProxies (--trusted-proxy) has '\(proxy)', which is no address; one is "
                    + "127.0.0.1"
            )
        }
        if let publicURL {
            guard let origin = WebOrigin(ofAddress: publicURL),
                ["http", "https"].contains(origin.scheme)
            else {
                throw ServerConfigurationError(
                    "publicURL (--public-url) is '\(publicURL)', which is no address; one is "
                        + "https://cloud.example.com"
                )
            }
        }
        guard !isPrivate else { return }
        let settings = [
            ("service.acceptsUserNames (--user-header)", service.acceptsUserNames),
            ("service.opensContainers (--any-container)", service.opensContainers),
            ("hasVirtualClock (--virtual-clock)", hasVirtualClock),
        ]
        for (name, isSet) in settings where isSet {
            throw ServerConfigurationError(
                "\(name) is for a server that nobody else can reach, and this one listens on "
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
