#if PostgreSQL
package import CloudKitServerPostgres
import Foundation
import Synchronization
package import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A PostgreSQL server of the tests, in a temporary folder, which ends with the process.
package final class PostgresServer: Sendable {
    /// The server that all tests share, each with databases of its own.
    package static let shared = Result { try PostgresServer() }

    /// `true` when the server's programs are installed where Debian has them.
    package static var isInstalled: Bool { folder != nil }

    package static let advice: Comment = "PostgreSQL is not installed: apt-get install postgresql"

    private static let folder = ["17", "16", "15", "14"].map { "/usr/lib/postgresql/\($0)/bin" }
        .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }

    /// The differences of a server from the others.
    package struct Setup {
        /// The command that makes the folder `$data/main`.
        package var make =
            #"initdb -D "$data/main" -A trust -U cloud -E UTF8 --locale=C >"$data/log" 2>&1"#
        /// Commands that run before the start, without single quotes.
        package var prepare: String
        /// Settings, such as `max_connections=20`.
        package var settings: [String]
        /// The address at which it takes connections besides its socket.
        package var address: String
        package var port: Int

        package init(
            make: String? = nil,
            prepare: String = ":",
            settings: [String] = [],
            address: String = "",
            port: Int = 5432
        ) {
            if let make { self.make = make }
            self.prepare = prepare
            self.settings = settings
            self.address = address
            self.port = port
        }
    }

    /// The folder of the data, in which the server's socket is too.
    package let data: String
    private let port: Int
    /// The server ends when this is closed, however the process ends.
    private let input = Pipe()
    private let output = Pipe()
    private let count = Mutex(0)

    package init(_ setup: Setup = Setup()) throws {
        port = setup.port
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

    /// Starts a standby of another server, which replays what is committed there.
    package convenience init(standbyOf primary: PostgresServer) throws {
        try self.init(
            Setup(
                make:
                    #"pg_basebackup -D "$data/main" -R -c fast -h \#(primary.data) -U cloud >"$data/log" 2>&1"#
            )
        )
    }

    private static func script(_ setup: Setup) -> String {
        let settings = setup.settings.map { "-c \($0) " }.joined()
        return """
            data=$(mktemp -d /tmp/cloudkit-postgres.XXXXXX) || exit 1
            trap "" INT TERM HUP
            \(setup.make)
            { \(setup.prepare)
            } >>"$data/log" 2>&1
            start() {
                pg_ctl -D "$data/main" -w -l "$data/log" -o "-k $data -p \(setup.port) \
            -c listen_addresses=\(setup.address) -c fsync=off -c full_page_writes=off \
            -c max_connections=400 -c shared_buffers=32MB \(settings)" start >/dev/null 2>&1
            }
            stop() {
                kill -CONT $(head -n 1 "$data/main/postmaster.pid") 2>/dev/null
                pg_ctl -D "$data/main" -w -m immediate stop >/dev/null 2>&1
            }
            start || { cat "$data/log" >&2; rm -rf "$data"; exit 1; }
            echo "$data"
            while read -r command; do
                "$command" && echo done
            done
            stop
            rm -rf "$data"
            """
    }

    /// The address of a database, by which the tests' own user connects.
    package func address(_ name: String) -> String {
        "host=\(data) port=\(port) user=cloud dbname=\(name)"
    }

    /// The path of the socket at which the server listens.
    package var socket: String { "\(data)/.s.PGSQL.\(port)" }

    /// Returns the address of a new database.
    package func newDatabase() throws -> String { try newDatabase("") }

    private func newDatabase(_ options: String) throws -> String {
        let name = "cloud\(count.withLock { $0 += 1; return $0 })"
        try run("CREATE DATABASE \(name) \(options)", in: "postgres")
        return address(name)
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
        let address = "host=\(data) port=\(port) user=\(name) dbname=postgres"
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
        let address = database.contains("=") ? database : address(database)
        process.arguments = [
            "-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", sql,
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
    package func end() throws { try send(SIGKILL) }

    /// Stops all its processes where they are, until `resume`.
    package func freeze() throws { try send(SIGSTOP) }

    /// Lets the processes go on.
    package func resume() throws { try send(SIGCONT) }

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

    /// Opens a storage in a database, or in a new one of the server that all tests share.
    package static func open(
        _ address: String? = nil,
        connections: Int = 4,
        partitions: Int = 0
    ) async throws -> PostgresStorage {
        guard let address else { return try await openCopy(connections, partitions) }
        return try await PostgresStorage.open(
            address,
            connections: connections,
            partitions: partitions
        )
    }
}

// MARK: Roles

extension PostgresServer {
    /// Creates a role that may create tables in a database; returns its name, and the address with it.
    package func newRole(
        _ prefix: String,
        in address: String
    ) throws -> (name: String, address: String) {
        let name = prefix + (address.split(separator: "=").last ?? "")
        try run("CREATE ROLE \(name) LOGIN", in: address)
        try run("GRANT ALL ON SCHEMA public TO \(name)", in: address)
        return (name, address.replacing("user=cloud", with: "user=\(name)"))
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

    /// The names of databases whose tables exist already, by the number of partitions.
    private static let templates = Mutex<[Int: Task<String, any Error>]>([:])

    private static func template(_ partitions: Int) -> Task<String, any Error> {
        templates.withLock { templates in
            if let template = templates[partitions] { return template }
            let template = Task {
                let address = try shared.get().newDatabase()
                try await PostgresStorage.open(address, connections: 1, partitions: partitions)
                    .close()
                return name(in: address)
            }
            templates[partitions] = template
            return template
        }
    }

    private static func name(in address: String) -> String {
        address.split(separator: "=").last.map(String.init) ?? ""
    }

    /// Opens a storage in a copy of an empty storage's database, which takes a fraction of the time; removes
    /// the databases of storages that are gone.
    private static func openCopy(
        _ connections: Int,
        _ partitions: Int
    ) async throws
        -> PostgresStorage
    {
        let server = try shared.get()
        let template = try await template(partitions).value
        let gone = copies.withLock { copies in
            defer { copies.removeAll { $0.storage == nil } }
            return copies.filter { $0.storage == nil }.map(\.name)
        }
        for name in gone { try server.run("DROP DATABASE \(name) WITH (FORCE)", in: "postgres") }
        let address = try server.newDatabase("TEMPLATE \(template)")
        let storage = try await open(address, connections: connections, partitions: partitions)
        copies.withLock { $0.append(Copy(storage: storage, name: name(in: address))) }
        return storage
    }
}
#endif
