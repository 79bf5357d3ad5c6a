public import CloudKitServerCore
public import CloudKitServerSQLite

extension CloudServer {
    /// What an operator can choose about a server.
    public struct Configuration: Sendable {
        /// The folder of the data; nil keeps everything in memory until the process ends.
        public var directory: String?
        /// The address to listen on.
        public var host: String
        /// The port to listen on; 0 takes a free one.
        public var port: Int
        /// When a write counts as done.
        public var durability: SQLiteStorage.Durability
        /// The URL under which clients reach the server, without a trailing slash; nil takes it from
        /// each request's `Host`.
        public var publicURL: String?
        /// Names, other than the machine's own loopback ones, that a request's `Host` may have.
        ///
        /// A server that listens on loopback refuses other names, so that no web page can reach it
        /// through a name that it controls.
        public var allowedHosts: Set<String>
        /// Origins, other than loopback ones, whose pages may call the server from a browser.
        public var allowedOrigins: Set<String>
        /// Addresses of proxies, such as `127.0.0.1`, whose `X-Forwarded-Proto`, `-Host` and `-For` are
        /// believed: asset addresses then name what the client reaches, without a `publicURL`.
        ///
        /// Whoever connects from such an address can speak for anyone. The names that a proxy tells must
        /// be among the allowed hosts.
        public var trustedProxies: Set<String> = []
        /// Seconds after which a silent connection is closed.
        public var idleSeconds: Int
        /// Seconds after which a request that waits for a notification is answered empty; less than
        /// the idle seconds, and than a minute, for which common clients wait.
        public var courierSeconds: Double
        /// Connections at most; others are told to come again.
        public var maxConnections = 800
        /// Connections at most from one address, of IPv6 from one network of 64 bits; those of a proxy
        /// on this machine are not counted.
        public var maxConnectionsPerAddress = 250
        /// Seconds in which a request has to come, and an answer to be read, beside those that their
        /// bytes take at 16 KiB a second.
        public var requestSeconds = 60
        /// Bytes of request bodies, and as many of answers, that are in memory at a time.
        ///
        /// A body that does not fit is refused, to be sent again; of answers that are too many, those go
        /// whose readers take longest. One client's bodies take half of it at most.
        public var memoryBytes = 256 << 20
        /// Addresses, other than loopback ones and pages of the allowed origins, to which a user may be
        /// sent with a token after signing in, such as `myapp://signed-in`.
        public var signInCallbacks: Set<String> = []
        /// The service's own configuration.
        public var service: ServiceConfiguration
        /// The key for the routes of operators and tests; nil makes a new one at each start.
        ///
        /// A server that does not listen on loopback has these routes only where a key is given.
        public var administrationKey: String?
        /// Whether those routes can move the clock forward; for tests.
        public var hasVirtualClock = false
        /// What goes wrong on purpose from the start; for tests.
        public var faults: FaultPlan?
        /// How many requests the journal keeps.
        public var journalCapacity = 1000
        /// What operators are told as the version of what runs; nil for none.
        public var version: String?
        /// Is told of each request after it was answered, for a person who watches.
        public var watcher: (@Sendable (JournalEntry) -> Void)?

        /// Makes a configuration; without arguments, a server in memory on a free loopback port.
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

        /// Bytes of any body at most.
        var longestBody: Int { max(service.requestBodyBytes, service.assetBytes) }
    }
}
