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
    /// Refuses what is fit for the own machine only on a server that others can reach.
    func check(isLoopback: Bool) throws(ServerConfigurationError) {
        guard !isLoopback else { return }
        let settings = [
            ("service.acceptsUserNames", service.acceptsUserNames),
            ("service.opensContainers", service.opensContainers),
            ("hasVirtualClock", hasVirtualClock),
        ]
        for (name, isSet) in settings where isSet {
            throw ServerConfigurationError(
                "\(name) is for a server on loopback, and this one listens on \(host); leave the "
                    + "setting or listen on 127.0.0.1"
            )
        }
    }
}
