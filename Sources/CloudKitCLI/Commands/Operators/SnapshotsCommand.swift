import ArgumentParser
import CloudKitServerCore
import CloudKitWire

/// A command that takes, compares and restores snapshots of a container.
struct SnapshotsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshots",
        abstract: "Take, compare and restore snapshots of a running server's container.",
        discussion: """
            A snapshot has records, zones, schemas, shares and subscriptions of both environments, \
            but no users and credentials: clients stay signed in.
            """,
        subcommands: [List.self, Take.self, Diff.self, Restore.self, Delete.self]
    )

    private struct Snapshots: Decodable {
        var snapshots: [StoredSnapshot]
    }

    private static func write(_ snapshots: [StoredSnapshot], _ output: OutputOptions) throws {
        try output.write(snapshots, header: "snapshot", "taken") {
            [[$0.name, ValueText.date($0.created)]]
        }
    }

    /// Returns a snapshot of a container.
    ///
    /// - Throws: `CommandFailure` when there is none of the name.
    private static func snapshot(
        _ name: String,
        of container: OperatedContainer
    ) async throws -> StoredSnapshot {
        let known: Snapshots = try await container.call("GET", "snapshots")
        guard let found = known.snapshots.first(where: { $0.name == name }) else {
            throw CommandFailure(
                "\(container.name) has no snapshot '\(name)'; cloudkit snapshots list names them"
            )
        }
        return found
    }

    /// Returns the path of a snapshot below that of its container.
    ///
    /// - Throws: `CommandFailure` for a blank name, which is no part of a path.
    private static func path(_ name: String) throws -> String {
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw CommandFailure(
                unusable: "The snapshot's name is blank; give one by which people find it again"
            )
        }
        return "snapshots/\(PercentEncoding.encode(name))"
    }
}

extension SnapshotsCommand {
    /// Lists snapshots.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the snapshots of a container."
        )

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let response: Snapshots = try await place.selected().call("GET", "snapshots")
            try SnapshotsCommand.write(response.snapshots, output)
        }
    }

    /// Takes a snapshot.
    struct Take: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "take",
            abstract: "Take a snapshot of a container, which copies no records."
        )

        @Argument(help: "The snapshot's name.")
        var name: String

        @Flag(help: "Replace a snapshot of this name.")
        var force = false

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let path = try SnapshotsCommand.path(name)
            let container = try await place.selected()
            let known: Snapshots = try await container.call("GET", "snapshots")
            guard force || !known.snapshots.contains(where: { $0.name == name }) else {
                throw CommandFailure(
                    unusable:
                        "There is a snapshot \(name); give another name, or --force to replace it"
                )
            }
            let taken: StoredSnapshot = try await container.call("PUT", path)
            try SnapshotsCommand.write([taken], output)
        }
    }

    /// Compares a snapshot with another, or with the present.
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "List the records that were added, changed and deleted after a snapshot.",
            discussion: "Lists 1,000 differences at most. The exit status is 1 when there are any."
        )

        @Argument(help: "The snapshot's name.")
        var name: String

        @Argument(help: "A later snapshot's name; the container's present state by default.")
        var later: String?

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let container = try await place.selected()
            let path = try SnapshotsCommand.path(name)
            for name in [name, later].compactMap(\.self) {
                _ = try await SnapshotsCommand.snapshot(name, of: container)
            }
            let query = later.map { "?to=\(PercentEncoding.encode($0))" } ?? ""
            let found: ContainerDifferences = try await container.call(
                "GET",
                "\(path)/differences\(query)"
            )
            guard !found.differences.isEmpty else { return }
            try CommandFailure.differ {
                try output.write(
                    found.differences,
                    header: "change",
                    "environment",
                    "owner",
                    "zone",
                    "record",
                    "type"
                ) {
                    [
                        [
                            $0.kind.rawValue, $0.environment.rawValue,
                            $0.ownerRecordName ?? "public",
                            $0.zoneName, $0.recordName ?? "(the whole zone)", $0.recordType ?? "",
                        ]
                    ]
                }
                if found.hasMore {
                    Console.say("There are more differences, which are not listed.")
                }
            }
        }
    }

    /// Restores a snapshot.
    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Restore a container to a snapshot; later changes are lost.",
            discussion: "Earlier change tokens expire: clients fetch everything again."
        )

        @Argument(help: "The snapshot's name.")
        var name: String

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let container = try await place.selected()
            let snapshot = try await SnapshotsCommand.snapshot(name, of: container)
            try await container.send("POST", "\(try SnapshotsCommand.path(name))/restore")
            guard !output.json else { return try output.write(snapshot) }
            Console.say("\(container.name) is as it was at \(name)")
        }
    }

    /// Deletes a snapshot.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a snapshot; the container does not change."
        )

        @Argument(help: "The snapshot's name.")
        var name: String

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let container = try await place.selected()
            let snapshot = try await SnapshotsCommand.snapshot(name, of: container)
            try await container.send("DELETE", SnapshotsCommand.path(name))
            guard !output.json else { return try output.write(snapshot) }
            Console.say("The snapshot \(name) is deleted")
        }
    }
}
