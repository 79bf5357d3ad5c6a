public import CloudKitServerCore
public import CloudKitServerSQLite

extension CloudServer {
    /// The configuration of a server.
    public struct Configuration: Sendable {
        /// The folder of the data; `nil` keeps everything in memory until the process ends.
        public var directory: String?
        /// The storage of the data, such as a `PostgresStorage` that several servers share; `nil` keeps the data
        /// in SQLite, in the folder or in memory.
        ///
        /// It comes with a storage of assets, and without a folder.
        public var storage: (any Storage)?
        /// The storage of assets; `nil` keeps them in files, in the folder of the data.
        ///
        /// The folder, or the storage of the data, notes where its assets are: a server that would look for
        /// them elsewhere does not start.
        public var assets: (any AssetStorage)?
        /// The address to listen on.
        public var host: String
        /// The port to listen on; 0 takes a free one.
        public var port: Int
        /// The point at which a write counts as done, in SQLite.
        public var durability: SQLiteStorage.Durability
        /// The URL at which clients reach the server, without a query or a fragment; `nil` takes it
        /// from each request's `Host`.
        public var publicURL: String?
        /// The names, other than the machine's own loopback names, that a request's `Host` may have.
        ///
        /// A server that listens on loopback refuses other names, so that a web page cannot reach
        /// it through a name under the page's control.
        public var allowedHosts: Set<String>
        /// The origins, other than loopback ones, whose pages may call the server from a browser.
        public var allowedOrigins: Set<String>
        /// The addresses of trusted proxies, such as `127.0.0.1`.
        ///
        /// Their `X-Forwarded-Proto`, `-Host` and `-For` are trusted: asset addresses then contain
        /// the name that the client reaches, without a `publicURL`. Anyone who connects from such
        /// an address can impersonate any client. The names that a proxy reports must be among the
        /// allowed hosts.
        public var trustedProxies: Set<String> = []
        /// The number of seconds after which a silent connection is closed.
        public var idleSeconds: Int
        /// The number of seconds after which a request that waits for a notification gets an empty
        /// response.
        ///
        /// Use less than `idleSeconds`, and less than a minute, which is the timeout of common clients.
        public var courierSeconds: Double
        /// The maximum number of connections; further clients are asked to retry later.
        public var maxConnections = 800
        /// The maximum number of connections from one address or, for IPv6, from one 64-bit network.
        ///
        /// Connections of a proxy on this machine are not counted.
        public var maxConnectionsPerAddress = 250
        /// The number of seconds in which a request must arrive and a response must be read, in
        /// addition to the time that their bytes take at 16 KiB per second.
        public var requestSeconds = 60
        /// The maximum number of bytes of request bodies in memory at a time, and the same for responses.
        ///
        /// What does not fit is refused, and its client retries; before a response is, the
        /// connections with the slowest readers are closed. One client's bodies use at most half of
        /// it.
        public var memoryBytes = 256 << 20
        /// The addresses, other than loopback ones and pages of the allowed origins, to which a
        /// signed-in user may be redirected with a token, such as `myapp://signed-in`.
        public var signInCallbacks: Set<String> = []
        /// The service's own configuration.
        public var service: ServiceConfiguration
        /// The key for the routes of operators and tests; `nil` creates a new one at each start.
        ///
        /// A server that does not listen on loopback has these routes only if a key is set.
        public var administrationKey: String?
        /// A Boolean value that indicates whether the operator routes can move the clock; for tests.
        public var hasVirtualClock = false
        /// The fault plan that is in effect from the start; for tests.
        public var faults: FaultPlan?
        /// The number of requests that the journal keeps.
        public var journalCapacity = 1000
        /// The version of the running program, which operators can read; `nil` for none.
        public var version: String?
        /// A Boolean value that indicates whether requests wait for `CloudServer.acceptRequests()`,
        /// so that a program can first write what its clients need.
        package var holdsRequests = false
        /// A closure that receives the journal entry of each request after its response, for live output.
        public var onRequest: (@Sendable (JournalEntry) -> Void)?

        /// Creates a configuration; without arguments, of an in-memory server on a free loopback port.
        public init(
            directory: String? = nil,
            host: String = "127.0.0.1",
            port: Int = 0,
            durability: SQLiteStorage.Durability = .full,
            publicURL: String? = nil,
            allowedHosts: Set<String> = [],
            allowedOrigins: Set<String> = [],
            idleSeconds: Int = 75,
            courierSeconds: Double = 30,
            service: ServiceConfiguration = ServiceConfiguration()
        ) {
            self.directory = directory
            self.host = host
            self.port = port
            self.durability = durability
            self.publicURL = publicURL
            self.allowedHosts = allowedHosts
            self.allowedOrigins = allowedOrigins
            self.idleSeconds = idleSeconds
            self.courierSeconds = courierSeconds
            self.service = service
        }

        /// The public URL without slashes at its end, for paths to be appended.
        package var baseURL: String? {
            publicURL.map { url in String(url.reversed().drop { $0 == "/" }.reversed()) }
        }

        /// The maximum size of any body in bytes.
        var longestBody: Int { max(service.requestBodyBytes, service.assetBytes) }
    }
}
