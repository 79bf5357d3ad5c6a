import CloudKitServerCore

/// A configuration that no server starts with.
public struct ServerConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do about it.
    public var description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }
}

extension CloudServer.Configuration {
    /// Refuses what is fit for the own machine only on a server that others can reach, and names
    /// that are none.
    func check(isPrivate: Bool) throws(ServerConfigurationError) {
        for origin in allowedOrigins where WebOrigin(origin) == nil {
            throw ServerConfigurationError(
                "allowedOrigins has '\(origin)', which is no origin; one is a scheme, a host and a "
                    + "port or none, such as https://app.example.com"
            )
        }
        for host in allowedHosts where HostName(host) == nil {
            throw ServerConfigurationError(
                "allowedHosts has '\(host)', which is no name; one is cloud.example.com"
            )
        }
        if let publicURL {
            guard let origin = WebOrigin(ofAddress: publicURL),
                ["http", "https"].contains(origin.scheme)
            else {
                throw ServerConfigurationError(
                    "publicURL is '\(publicURL)', which is no address; one is "
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
