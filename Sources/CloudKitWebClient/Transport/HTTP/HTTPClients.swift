package import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTPCompression
package import NIOSSL

/// The HTTP clients of transports that are not given one.
///
/// All transports of a process share them, on NIO's event loops for the process. They respect
/// `SSL_CERT_FILE`, `HTTPS_PROXY` and `NO_PROXY`.
package struct HTTPClients: Sendable {
    /// The number of simultaneous connections to one server.
    ///
    /// A request takes milliseconds of a server's time and some ten of the network's, so 64
    /// connections carry thousands of requests per second, more than one program can use; each costs
    /// a descriptor and some kilobytes while it is open. A server with HTTP/2, such as Apple's, needs
    /// one connection for all of them.
    package static let connectionsPerServer = 64

    /// The largest response that is read into memory: 200 records of 1 MB with their surroundings.
    package static let largestBody = 256 * 1024 * 1024

    /// The clients of the process, or the error of a variable.
    static let shared = Result { () throws(TransportError) in
        try HTTPClients(HTTPVariables(ProcessInfo.processInfo.environment))
    }

    /// Requests wait here, so that the time does not count as the server's.
    let gate = ConnectionGate(width: connectionsPerServer)

    private let direct: HTTPClient
    private let proxied: HTTPClient?
    /// The client for requests that wait: they keep their connections for a long time, and must not
    /// withhold them from others.
    private let waitingDirect: HTTPClient
    private let waitingProxied: HTTPClient?
    private let variables: HTTPVariables

    init(_ variables: HTTPVariables) throws(TransportError) {
        self.variables = variables
        let roots = variables.trustRoots
        // They live as long as the process: a pool shut down by one user would fail the others.
        func make(_ connections: Int, _ proxy: HTTPClient.Configuration.Proxy?) -> HTTPClient {
            HTTPClient(
                eventLoopGroupProvider: .singleton,
                configuration: Self.configuration(connections, proxy, roots)
            )
        }
        direct = make(Self.connectionsPerServer, nil)
        waitingDirect = make(1024, nil)
        proxied = variables.proxy.map { make(Self.connectionsPerServer, $0) }
        waitingProxied = variables.proxy.map { make(1024, $0) }
    }

    /// Returns the client for requests to a server.
    func client(for address: ServerAddress, waits: Bool) -> HTTPClient {
        let isProxied = address.isSecure && !variables.isDirect(address.host)
        let proxied = waits ? waitingProxied : proxied
        return (isProxied ? proxied : nil) ?? (waits ? waitingDirect : direct)
    }

    /// Returns the configuration of the process's clients.
    package static func configuration(
        _ connections: Int = connectionsPerServer,
        _ proxy: HTTPClient.Configuration.Proxy? = nil,
        _ roots: NIOSSLTrustRoots? = nil,
        largestBody: Int = largestBody
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // The transport itself watches for silence; see `IdleWatch`.
            timeout: .init(connect: .seconds(10), read: nil),
            decompression: .enabled(limit: .size(largestBody))
        )
        // An unreachable server is reported to the caller immediately, who may try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        configuration.proxy = proxy
        var tls = TLSConfiguration.makeClientConfiguration()
        // As on Apple's platforms: tokens are not sent over broken encryption.
        tls.minimumTLSVersion = .tlsv12
        if let roots { tls.trustRoots = roots }
        configuration.tlsConfiguration = tls
        return configuration
    }
}
