#if PostgreSQL
import CloudKitServerPostgres
import Foundation
import Synchronization
import Testing

/// A PostgreSQL server of the tests, in a temporary folder, which ends with the process.
final class PostgresServer: Sendable {
    /// The server that all tests share, each with databases of its own.
    static let shared = Result { try PostgresServer() }

    /// `true` when the server's programs are installed where Debian has them.
    static var isInstalled: Bool { folder != nil }

    static let advice: Comment = "PostgreSQL is not installed: apt-get install postgresql"

    private static let folder = ["17", "16", "15", "14"].map { "/usr/lib/postgresql/\($0)/bin" }
        .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }

    /// The differences of a server from the others.
    struct Setup {
        /// The command that makes the folder `$data/main`.
        var make =
            #"initdb -D "$data/main" -A trust -U cloud -E UTF8 --locale=C >"$data/log" 2>&1"#
        /// Commands that run before the start, without single quotes.
        var prepare = ":"
        /// Settings, such as `max_connections=20`.
        var settings: [String] = []
        /// The address at which it takes connections besides its socket.
        var address = ""
        var port = 5432
    }

    /// The folder of the data, in which the server's socket is too.
    let data: String
    private let port: Int
    /// The server ends when this is closed, however the process ends.
    private let input = Pipe()
    private let count = Mutex(0)

    init(_ setup: Setup = Setup()) throws {
        port = setup.port
        let output = Pipe()
        // PostgreSQL does not run as root.
        let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cd / && exec \(user)/bin/sh -c '\(Self.script(setup))'"]
        process.environment = ["PATH": (Self.folder ?? "") + ":/usr/bin:/bin", "LC_ALL": "C"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.availableData
        data = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !data.isEmpty else { throw CocoaError(.fileReadUnknown) }
    }

    private static func script(_ setup: Setup) -> String {
        let settings = setup.settings.map { "-c \($0) " }.joined()
        return """
            data=$(mktemp -d /tmp/cloudkit-postgres.XXXXXX) || exit 1
            trap "" INT TERM HUP
            \(setup.make)
            { \(setup.prepare)
            } >>"$data/log" 2>&1
            pg_ctl -D "$data/main" -w -l "$data/log" -o "-k $data -p \(setup.port) \
            -c listen_addresses=\(setup.address) -c fsync=off -c full_page_writes=off \
            -c max_connections=400 -c shared_buffers=32MB \(settings)" start >/dev/null 2>&1 \
            || { cat "$data/log" >&2; rm -rf "$data"; exit 1; }
            echo "$data"
            cat >/dev/null
            pg_ctl -D "$data/main" -w -m immediate stop >/dev/null 2>&1
            rm -rf "$data"
            """
    }

    /// The address of a database, by which the tests' own user connects.
    func address(_ name: String) -> String { "host=\(data) port=\(port) user=cloud dbname=\(name)" }

    /// Returns the address of a new database.
    func newDatabase() throws -> String {
        let name = "cloud\(count.withLock { $0 += 1; return $0 })"
        try run("CREATE DATABASE \(name)", in: "postgres")
        return address(name)
    }

    /// Runs statements with psql; returns what it prints.
    @discardableResult
    func run(_ sql: String, in database: String) throws -> String {
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: (Self.folder ?? "") + "/psql")
        let address = database.contains("=") ? database : address(database)
        process.arguments = [
            "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", sql,
        ]
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
        return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Opens a storage in a database, or in a new one.
    static func open(
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
