#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Synchronization
import Testing

@Suite(
    "PostgreSQL behind a pooler",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice),
    .enabled(if: PgBouncer.isInstalled, "PgBouncer is not installed: apt-get install pgbouncer")
)
struct PoolerTests {
    @Test("A pooler that keeps sessions is as good as the server")
    func sessions() async throws {
        let server = try PostgresServer.shared.get()
        let pooler = try PgBouncer(of: server, mode: "session")
        let address = try pooler.address(of: server.newDatabase())
        let nodes = try await [PostgresServer.open(address), PostgresServer.open(address)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try await nodes[number % 2].write { writer in
                        let count = try writer.setting("count")?.first ?? 0
                        try writer.setSetting("count", Data([count + 1]))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await nodes[0].read { try $0.setting("count") } == Data([40]))
        for node in nodes { await node.end() }
    }

    @Test(
        "One that gives each transaction another session is refused with the remedy",
        arguments: ["", "server_round_robin=1"]
    )
    func transactions(setting: String) async throws {
        let server = try PostgresServer.shared.get()
        let pooler = try PgBouncer(of: server, mode: "transaction", setting)
        let address = try server.newDatabase()
        for _ in 0..<3 {
            let error = await #expect(throws: StorageError.self) {
                try await PostgresServer.open(pooler.address(of: address))
            }
            #expect(error?.code == .other)
            let message = error?.message ?? ""
            #expect(message.contains("pool_mode=session"), "\(message)")
        }
        #expect(
            try server.run("SELECT count(*) FROM pg_tables WHERE tablename = 'zone'", in: address)
                == "0"
        )
    }

    @Test("It is refused while it is busy with the transactions of others, too")
    func busy() async throws {
        let server = try PostgresServer.shared.get()
        let pooler = try PgBouncer(of: server, mode: "transaction")
        let address = try pooler.address(of: server.newDatabase())
        let isOver = Mutex(false)
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<3 {
            Thread.detachNewThread {
                // Only that they disturb matters.
                while !isOver.withLock({ $0 }) { _ = try? server.run("SELECT 1", in: address) }
            }
        }
        for _ in 0..<5 {
            let error = await #expect(throws: StorageError.self) {
                try await PostgresServer.open(address)
            }
            #expect(error?.message.contains("pool_mode=session") == true)
        }
    }
}

/// A PgBouncer in front of a server of the tests, which ends with the process.
private final class PgBouncer: Sendable {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/sbin/pgbouncer")

    private let folder: String
    private let input = Pipe()

    init(of server: PostgresServer, mode: String, _ setting: String = "") throws {
        let output = Pipe()
        // PgBouncer does not run as root, either.
        let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""
        let script = """
            folder=$(mktemp -d /tmp/cloudkit-pgbouncer.XXXXXX) || exit 1
            trap "" INT TERM HUP
            cat >"$folder/ini" <<END
            [databases]
            * = host=\(server.data) user=cloud
            [pgbouncer]
            unix_socket_dir = $folder
            listen_port = 6432
            auth_type = any
            pool_mode = \(mode)
            logfile = $folder/log
            pidfile = $folder/pid
            \(setting)
            END
            pgbouncer -q -d "$folder/ini" || { rm -rf "$folder"; exit 1; }
            echo "$folder"
            cat >/dev/null
            kill "$(cat "$folder/pid")"
            rm -rf "$folder"
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cd / && exec \(user)/bin/sh -c '\(script)'"]
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/bin", "LC_ALL": "C"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.availableData
        folder = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !folder.isEmpty else { throw CocoaError(.fileReadUnknown) }
    }

    /// Returns the address by which clients of the pooler reach a database of the server.
    func address(of database: String) throws -> String {
        let name = try #require(database.split(separator: "=").last)
        return "host=\(folder) port=6432 user=cloud dbname=\(name)"
    }
}
#endif
