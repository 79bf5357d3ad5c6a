#if PostgreSQL
public import CloudKitServerPostgres
import Foundation
import Synchronization
public import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A PostgreSQL server of the tests, in a temporary folder, which ends with the process.
public final class PostgresServer: Sendable {
    /// The server that all tests share, each with databases of its own.
    public static let shared = Result { try PostgresServer() }

    /// `true` when the server's programs are installed where Debian has them.
    public static var isInstalled: Bool { folder != nil }

    public static let advice: Comment = "PostgreSQL is not installed: apt-get install postgresql"

    private static let folder = ["17", "16", "15", "14"].map { "/usr/lib/postgresql/\($0)/bin" }
        .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }

    /// The folder of the data, in which the server's socket is too.
    public let data: String
    /// The server ends when this is closed, however the process ends.
    private let input = Pipe()
    private let count = Mutex(0)

    /// Starts a server.
    public convenience init() throws {
        try self.init("initdb -D \"$data/main\" -A trust -U cloud -E UTF8 --locale=C")
    }

    /// Starts a standby of another server, which replays what is committed there.
    public convenience init(standbyOf primary: PostgresServer) throws {
        try self.init("pg_basebackup -D \"$data/main\" -R -c fast -h \(primary.data) -U cloud")
    }

    private init(_ creation: String) throws {
        let output = Pipe()
        // PostgreSQL does not run as root.
        let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "cd / && exec \(user)/bin/sh -c '\(Self.script(creation))'",
        ]
        process.environment = ["PATH": (Self.folder ?? "") + ":/usr/bin:/bin", "LC_ALL": "C"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.availableData
        data = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !data.isEmpty else { throw CocoaError(.fileReadUnknown) }
    }

    private static func script(_ creation: String) -> String {
        """
        data=$(mktemp -d /tmp/cloudkit-postgres.XXXXXX) || exit 1
        trap "" INT TERM HUP
        \(creation) >"$data/log" 2>&1
        pg_ctl -D "$data/main" -w -l "$data/log" -o "-k $data -c listen_addresses= -c fsync=off \
        -c full_page_writes=off -c max_connections=400 -c shared_buffers=32MB" start >/dev/null 2>&1 \
        && echo "$data"
        cat >/dev/null
        kill -CONT $(head -n 1 "$data/main/postmaster.pid") 2>/dev/null
        pg_ctl -D "$data/main" -w -m immediate stop >/dev/null 2>&1
        rm -rf "$data"
        """
    }

    /// The path of the socket at which the server listens.
    public var socket: String { data + "/.s.PGSQL.5432" }

    /// Returns the address of a new database.
    public func newDatabase() throws -> String {
        try newDatabase("")
    }

    private func newDatabase(_ options: String) throws -> String {
        let name = "cloud\(count.withLock { $0 += 1; return $0 })"
        try run("CREATE DATABASE \(name) \(options)", in: "postgres")
        return "host=\(data) user=cloud dbname=\(name)"
    }

    /// Runs statements with psql; returns what it prints.
    @discardableResult
    public func run(_ sql: String, in database: String) throws -> String {
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: (Self.folder ?? "") + "/psql")
        let address =
            database.contains("=") ? database : "host=\(data) user=cloud dbname=\(database)"
        process.arguments = [
            "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", sql,
        ]
        process.environment = ProcessInfo.processInfo.environment
            .merging(["PGOPTIONS": "-c client_min_messages=error"]) { $1 }
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
        return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Ends the server and all its processes without warning.
    public func end() throws { try send(SIGKILL) }

    /// Stops all its processes where they are, until `resume`.
    public func freeze() throws { try send(SIGSTOP) }

    /// Lets the processes go on.
    public func resume() throws { try send(SIGCONT) }

    private func send(_ signal: Int32) throws {
        let file = try String(contentsOfFile: data + "/main/postmaster.pid", encoding: .utf8)
        guard let leader = file.split(separator: "\n").first.flatMap({ pid_t($0) }), leader > 1
        else { throw CocoaError(.fileReadCorruptFile) }
        // The postmaster first, as it starts new processes; each has a session of its own.
        let children = try String(
            contentsOfFile: "/proc/\(leader)/task/\(leader)/children",
            encoding: .utf8
        )
        for process in [leader] + children.split(separator: " ").compactMap({ pid_t($0) }) {
            kill(process, signal)
        }
    }

    /// Opens a storage in a database, or in a new one.
    public static func open(
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

// MARK: Databases for many short tests

extension PostgresServer {
    /// A database that is removed after its storage.
    private struct Copy {
        weak var storage: PostgresStorage?
        var name: String
    }

    private static let copies = Mutex<[Copy]>([])

    /// The name of a database whose tables exist already.
    private static let template = Task {
        let address = try shared.get().newDatabase()
        try await PostgresStorage.open(address, connections: 1).close()
        return address.split(separator: "=").last.map(String.init) ?? ""
    }

    /// Opens a storage in a copy of an empty storage's database, which takes a fraction of the time; removes
    /// the databases of storages that are gone.
    public static func openCopy() async throws -> PostgresStorage {
        let server = try shared.get()
        let template = try await template.value
        let gone = copies.withLock { copies in
            defer { copies.removeAll { $0.storage == nil } }
            return copies.filter { $0.storage == nil }.map(\.name)
        }
        for name in gone { try server.run("DROP DATABASE \(name) WITH (FORCE)", in: "postgres") }
        let address = try server.newDatabase("TEMPLATE \(template)")
        let storage = try await open(address)
        let name = address.split(separator: "=").last.map(String.init) ?? ""
        copies.withLock { $0.append(Copy(storage: storage, name: name)) }
        return storage
    }
}
#endif
