import Foundation

/// A small package for `Scripts/layers`: a manifest as SwiftPM dumps it, a rank table, and sources.
struct Fixture {
    /// Four targets, one per side, whose edges all conform to the table below.
    var targets = [
        Target("Wire"),
        Target("Client", dependsOn: ["Wire"], uses: ["HTTPClient"]),
        Target("Server", dependsOn: ["Wire"]),
        Target("Bridge", dependsOn: ["Client", "Server"]),
    ]

    var rows = [
        "| 1 | `Wire` | shared | here | – | messages |",
        "| 2 | `Client` | client | here | `HTTPClient`, `Logging` | requests |",
        "| 2 | `Server` | server | here | – | rules |",
        "| 3 | `Bridge` | bridge | here | – | both |",
        "| 4 | `Store` | client | to come | – | later |",
    ]

    /// Swift files, by their path under `Sources`.
    var sources = ["Client/Client.swift": "public import Wire\n"]

    /// Adds a dependency between two of the package's own targets.
    mutating func addEdge(from source: String, to target: String) {
        for index in targets.indices where targets[index].name == source {
            targets[index].dependencies.append(target)
        }
    }

    /// Replaces the row of a target, or removes it.
    mutating func setRow(of target: String, to row: String?) {
        rows.removeAll { $0.contains("`\(target)`") }
        if let row { rows.append(row) }
    }

    /// Runs the script on the fixture.
    func check() async throws -> Script {
        let folder = try TemporaryFolder()
        let dump = try folder.write(manifest(), to: "dump.json")
        let table = try folder.write(
            "# Ranks\n\n| rank | target |\n|---|---|\n" + rows.joined(separator: "\n") + "\n",
            to: "architecture.md"
        )
        for (path, text) in sources {
            try folder.write(text, to: "Sources/\(path)")
        }
        let sources = folder.url.appending(path: "Sources").path
        return try await Script.run(
            "Scripts/layers",
            "--dump",
            dump,
            "--table",
            table,
            "--sources",
            sources
        )
    }

    private func manifest() throws -> String {
        let dump = Dump(targets: targets.map(\.dump))
        return String(decoding: try JSONEncoder().encode(dump), as: UTF8.self)
    }
}
