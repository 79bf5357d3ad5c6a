#if PostgreSQL
package import CloudKitServerPostgres
import Foundation
import Synchronization
package import Testing

/// A PostgreSQL server of the tests, in a temporary folder, which ends with the process.
package final class PostgresServer: Sendable {
    /// The server that all tests share, each with databases of its own.
    package static let shared = Result { try PostgresServer() }

    /// `true` when the server's programs are installed where Debian has them.
    package static var isInstalled: Bool { folder != nil }

    package static let advice: Comment = "PostgreSQL is not installed: apt-get install postgresql"

    private static let folder = ["17", "16", "15", "14"].map { "/usr/lib/postgresql/\($0)/bin" }
        .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }

    /// The folder of the data, in which the server's socket is too.
    private let data: String
    /// The server ends when this is closed, however the process ends.
    private let input = Pipe()
    private let output = Pipe()
    private let count = Mutex(0)

    package init() throws {
        // PostgreSQL does not run as root.
        let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cd / && exec \(user)/bin/sh -c '\(Self.script)'"]
        process.environment = ["PATH": (Self.folder ?? "") + ":/usr/bin:/bin", "LC_ALL": "C"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.availableData
        data = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !data.isEmpty else { throw CocoaError(.fileReadUnknown) }
    }

    private static let script = """
        data=$(mktemp -d /tmp/cloudkit-postgres.XXXXXX) || exit 1
        trap "" INT TERM HUP
        initdb -D "$data/main" -A trust -U cloud -E UTF8 --locale=C >"$data/log" 2>&1
        start() {
            pg_ctl -D "$data/main" -w -l "$data/log" -o "-k $data -c listen_addresses= -c fsync=off \
            -c full_page_writes=off -c max_connections=400 -c shared_buffers=32MB" start >/dev/null 2>&1
        }
        stop() { pg_ctl -D "$data/main" -w -m immediate stop >/dev/null 2>&1; }
        start && echo "$data"
        while read -r command; do
            "$command" && echo done
        done
        stop
        rm -rf "$data"
        """

    /// Returns the address of a new database.
    package func newDatabase() throws -> String {
        let name = "cloud\(count.withLock { $0 += 1; return $0 })"
        try run("CREATE DATABASE \(name)", in: "postgres")
        return "host=\(data) user=cloud dbname=\(name)"
    }

    /// Returns the URL of a database whose address has the form of `newDatabase()`.
    package static func url(_ address: String, user: String = "cloud") -> String {
        let values = Dictionary(
            uniqueKeysWithValues: address.split(separator: " ").map { pair in
                let parts = pair.split(separator: "=")
                return (String(parts[0]), String(parts[1]))
            }
        )
        return "postgres://\(user)@/\(values["dbname"] ?? "")?host=\(values["host"] ?? "")"
    }

    /// Lets a new user connect with a password alone.
    package func addUser(_ name: String, password: String) throws {
        try run("CREATE ROLE \(name) LOGIN PASSWORD '\(password)'", in: "postgres")
        let file = try run("SHOW hba_file", in: "postgres")
        try run(
            """
            COPY (SELECT * FROM (VALUES ('local all \(name) scram-sha-256'), ('local all all trust')) AS rows)
            TO '\(file)'
            """,
            in: "postgres"
        )
        try run("SELECT pg_reload_conf()", in: "postgres")
        let address = "host=\(data) user=\(name) dbname=postgres"
        // The server has read its rules when it refuses a user without the password.
        while (try? run("SELECT 1", in: address)) != nil {}
    }

    /// Ends the server as a failure of its machine would.
    package func stop() throws { try tell("stop") }

    /// Starts the server again.
    package func start() throws { try tell("start") }

    private func tell(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        guard !output.fileHandleForReading.availableData.isEmpty else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    /// Runs statements with psql; returns what it prints.
    @discardableResult
    package func run(_ sql: String, in database: String) throws -> String {
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: (Self.folder ?? "") + "/psql")
        let address =
            database.contains("=") ? database : "host=\(data) user=cloud dbname=\(database)"
        process.arguments = [
            "-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", sql,
        ]
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
        return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Opens a storage in a database, or in a new one.
    package static func open(
        _ address: String? = nil,
        connections: Int = 4,
        partitions: Int = 0
    ) async throws -> PostgresStorage {
        let address = try address ?? shared.get().newDatabase()
        return try await PostgresStorage.open(
            address,
            connections: connections,
            partitions: partitions
        )
    }
}
#endif
