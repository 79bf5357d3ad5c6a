#if PostgreSQL
import Foundation

/// A PostgreSQL server with its data in a temporary folder, which ends with the process.
///
/// Its settings are those of a new installation, with durable commits: the subject and the floor pay for
/// the same syncs of the disk.
final class PostgresFolder: Sendable {
    /// The address of the server's database, in the keywords of libpq.
    let address: String
    /// The folder on whose disk the data is.
    let directory: URL
    /// The server ends when this is closed, however the process ends.
    private let input = Pipe()

    /// The folder of the newest server's programs, where Debian has them; nil if there are none.
    static var programs: String? {
        ["18", "17", "16", "15", "14"].map { "/usr/lib/postgresql/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }

    init(programs: String) throws {
        let output = Pipe()
        // PostgreSQL does not run as root.
        let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cd / && exec \(user)/bin/sh -c '\(Self.script)'"]
        process.environment = ["PATH": programs + ":/usr/bin:/bin", "LC_ALL": "C"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.availableData
        let folder = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !folder.isEmpty else { throw BenchError(description: "PostgreSQL did not start") }
        address = "host=\(folder) user=cloud dbname=postgres"
        directory = URL(fileURLWithPath: folder)
    }

    private static let script = """
        data=$(mktemp -d /tmp/cloudkit-bench.XXXXXX) || exit 1
        trap "" INT TERM HUP
        initdb -D "$data/main" -A trust -U cloud -E UTF8 --locale=C >"$data/log" 2>&1
        pg_ctl -D "$data/main" -w -l "$data/log" \
        -o "-k $data -c listen_addresses= -c max_connections=200" start >/dev/null 2>&1 \
        && echo "$data"
        cat >/dev/null
        pg_ctl -D "$data/main" -w -m immediate stop >/dev/null 2>&1
        rm -rf "$data"
        """
}
#endif
