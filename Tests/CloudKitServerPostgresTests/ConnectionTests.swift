#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Testing

#if canImport(Glibc)
import Glibc
#endif

@Suite(
    "Addresses of PostgreSQL, and what is wrong with them",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct ConnectionTests {
    /// A server with TLS and a user with a password.
    private struct Secured {
        static let shared = Result { try Secured() }

        let server: PostgresServer
        let host: String
        let port: Int

        private init() throws {
            // No other server is at this address of the machine.
            host = "127.\(getpid() >> 16 & 255).\(getpid() >> 8 & 255).\(getpid() & 255 | 1)"
            port = try freePort(at: host)
            server = try PostgresServer(
                .init(
                    prepare: Self.prepare(host),
                    settings: [
                        "ssl=on", "ssl_cert_file=$data/server.pem", "ssl_key_file=$data/server.key",
                    ],
                    address: host,
                    port: port
                )
            )
            try server.run(
                "CREATE ROLE ada LOGIN SUPERUSER PASSWORD '\(ConnectionTests.password)'",
                in: "postgres"
            )
        }

        private static func prepare(_ host: String) -> String {
            """
            printf "%s\\n" "host all all all scram-sha-256" "local all all trust" \
            >"$data/main/pg_hba.conf"
            cd "$data"
            for name in authority other; do
                openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$name" \
                -keyout $name.key -out $name.pem
            done
            openssl req -newkey rsa:2048 -nodes -subj /CN=server -keyout server.key -out server.csr
            printf "subjectAltName=DNS:db.example.com" >names
            openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial \
            -days 2 -extfile names -out server.pem
            chmod 600 server.key
            """
        }

        /// Returns an address, with options that come after the usual ones and win.
        func address(_ options: String = "", password: String = ConnectionTests.password) -> String
        {
            "host=db.example.com hostaddr=\(host) port=\(port) user=ada password=\(password) "
                + "dbname=postgres sslmode=verify-full sslrootcert=\(server.data)/authority.pem "
                + options
        }
    }

    private static let password = "s3cretWord"

    /// Returns the error of an attempt to open a storage.
    private static func error(_ address: String) async -> StorageError? {
        let error = await #expect(throws: StorageError.self) {
            try await PostgresStorage.open(PostgresAddress(address), patience: .seconds(1))
        }
        #expect(error?.message.contains(password) == false, "\(String(describing: error))")
        return error
    }

    // MARK: TLS

    @Test("A server with a certificate for its name, by an authority that is trusted, is used")
    func verified() async throws {
        let storage = try await PostgresServer.open(Secured.shared.get().address())
        // Large enough for many TLS records.
        let value = Data(repeating: 7, count: 5_000_000)
        try await storage.write { try $0.setSetting("a", value) }
        #expect(try await storage.read { try $0.setting("a") } == value)
        let encrypted = try Secured.shared.get().server.run(
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                + "WHERE ssl AND usename = 'ada'",
            in: "postgres"
        )
        #expect(encrypted != "0")
        await storage.end()
    }

    @Test("Another name, another authority, or none is refused at once, with the remedy")
    func unverified() async throws {
        let secured = try Secured.shared.get()
        for (options, words) in [
            ("host=other.example.com", "sslmode=verify-full needs the host's name"),
            ("sslrootcert=\(secured.server.data)/other.pem", "sslrootcert"),
            ("sslrootcert=/nowhere/authority.pem", "sslrootcert"),
        ] {
            let error = await Self.error(secured.address(options))
            #expect(error?.code == .other)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
    }

    // MARK: Refusals

    @Test("A wrong password, user, or database is refused at once, with the remedy")
    func refused() async throws {
        let secured = try Secured.shared.get()
        for (address, words) in [
            (secured.address(password: "wrong"), "check the user and the password"),
            (secured.address("user=nobody"), "check the user and the password"),
            (secured.address("password=''"), "PGPASSWORD"),
            (secured.address("dbname=nothing"), "createdb"),
            (
                secured.server.address("postgres").replacing("user=cloud", with: "user=nobody"),
                "createuser"
            ),
        ] {
            let error = await Self.error(address)
            #expect(error?.code == .other, "\(String(describing: error))")
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test("An address that cannot be read is refused without what it says")
    func unreadable() async throws {
        let password = Self.password
        let refusal = "no address of a PostgreSQL database"
        for (address, words) in [
            ("postgres://ada:\(password)@[::1]x/cloud", refusal),
            ("postgres://ada:p@\(password)@[::1]/cloud", "@ is %40"),
            ("postgres://ada:p@\(password)@127.0.0.1:5499/cloud", "@ is %40"),
            ("postgres://ada:\(password)%zz@localhost/cloud", refusal),
            ("host=localhost password=a \(password)", refusal),
            ("host=localhost password=\(password) sslmod=require", refusal),
            ("host=localhost password=\(password) port=many", "port"),
            ("host=localhost password=\(password) sslmode=\(password)", "sslmode"),
        ] {
            let error = await Self.error(address)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test("A server that is not there is waited for, and named")
    func notThere() async throws {
        let host = "127.0.0.1"
        let port = try freePort(at: host)
        let error = await Self.error("host=\(host) port=\(port) user=ada dbname=cloud")
        #expect(error?.code == .busy)
        #expect(error?.message.contains("There is no connection to PostgreSQL") == true)
        #expect(error?.message.contains("port \(port)") == true)
        let missing = await Self.error("host=/nowhere user=ada dbname=cloud")
        #expect(missing?.message.contains("/nowhere") == true)
    }

    // MARK: Several hosts

    @Test("Hosts that are down, or only stand by, are passed over, and their lag is measured")
    func standby() async throws {
        let server = try PostgresServer()
        let standby = try PostgresServer(
            .init(
                make:
                    #"pg_basebackup -h \#(server.data) -U cloud -D "$data/main" -R -X stream >>"$data/log" 2>&1"#,
                settings: ["hot_standby=on", "cluster_name=second"]
            )
        )
        let address = "host=/nowhere,\(standby.data),\(server.data) user=cloud dbname=postgres"
        let storage = try await PostgresServer.open(address)
        try await storage.write { try $0.setSetting("a", Data([1])) }
        #expect(try server.run("SELECT count(*) FROM setting", in: "postgres") == "1")

        // The standby is connected once it is in the list.
        let sent = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn IS NOT NULL"
        while try server.run(sent, in: "postgres") == "0" { await Task.yield() }
        let metrics = await storage.metrics()
        let documented = try Self.documentedMetrics
        #expect(Set(metrics.map { "\($0.name) \($0.kind.rawValue)" }) == documented)
        for metric in metrics {
            #expect((metric.kind == .counter) == metric.name.hasSuffix("_total"))
            #expect(metric.value >= 0)
        }
        let lags = metrics.filter { $0.name.contains("replication_lag") }
        #expect(
            lags.map(\.name)
                == ["bytes", "seconds"].map { "cloudkit_postgres_replication_lag_\($0)" }
        )
        for lag in lags {
            #expect(lag.label == .init("standby", "second"))
            #expect(lag.value >= 0 && lag.value < 1e9)
        }

        let alone = await Self.error("host=\(standby.data) user=cloud dbname=postgres")
        #expect(alone?.code == .busy)
        #expect(alone?.message.contains("standby") == true, "\(String(describing: alone))")
        let forced = await Self.error(
            "host=\(standby.data) user=cloud dbname=postgres target_session_attrs=any"
        )
        #expect(
            forced?.message.contains("target_session_attrs=read-write") == true,
            "\(String(describing: forced))"
        )
        await storage.end()
    }
}

extension ConnectionTests {
    /// The names and the kinds of the metrics that the page for operators has.
    private static var documentedMetrics: Set<String> {
        get throws {
            let page = try String(
                contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                    .deletingLastPathComponent().deletingLastPathComponent()
                    .appendingPathComponent("docs/operating/self-hosting.md"),
                encoding: .utf8
            )
            let rows = page.matches(of: /\| `(cloudkit_postgres_[a-z_]+)` \| (counter|gauge) \|/)
            return Set(rows.map { "\($0.output.1) \($0.output.2)" })
        }
    }
}

/// Returns a port of an address of this machine at which nobody listens.
private func freePort(at host: String) throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr(host)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
        }
    }
    try #require(isBound)
    return Int(UInt16(bigEndian: address.sin_port))
}
#endif
