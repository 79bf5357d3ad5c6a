import ArgumentParser
import CloudKitWire

/// A command that empties a container, and makes its clients start over.
struct ContainersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "containers",
        abstract: "Empty a running server's container, or make its clients start over.",
        discussion: "cloudkit overview lists the containers.",
        subcommands: [Reset.self, ExpireChangeTokens.self, DeleteZones.self]
    )

    /// The container that was changed, in the output of `--json`.
    private struct Changed: Encodable {
        var container: String
    }
}

extension ContainersCommand {
    /// Empties a container.
    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "Delete every record and zone of a container, in both environments.",
            discussion: "Snapshots, users and credentials stay."
        )

        @Flag(help: "Keep the schema.")
        var keepSchema = false

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let container = try await place.selected()
            try await container.send("POST", "reset", ["keepsSchema": keepSchema])
            guard !output.json else { return try output.write(Changed(container: container.name)) }
            Console.say("\(container.name) is empty")
        }
    }

    /// Expires the change tokens of a container.
    struct ExpireChangeTokens: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expire-change-tokens",
            abstract: "Expire all change tokens, so that clients fetch everything again."
        )

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let container = try await place.selected()
            try await container.send("POST", "expire-change-tokens")
            guard !output.json else { return try output.write(Changed(container: container.name)) }
            Console.say("The change tokens of \(container.name) have expired")
        }
    }

    /// Deletes zones as a user's settings do.
    struct DeleteZones: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete-zones",
            abstract: "Delete a user's zones for one of the reasons that clients are notified of.",
            discussion: "To delete zones as the user's app does, see cloudkit zones delete."
        )

        @Argument(help: "The zones' names; all zones of the user by default.")
        var zones: [String] = []

        @Option(help: .user)
        var user: String

        @Option(
            help: """
                purged, when the user deleted the app's data in the settings, or \
                encrypted-data-reset, when the user reset the keys.
                """
        )
        var reason = Reason.purged

        @Option(help: .environment)
        var environment: ServiceEnvironment?

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        enum Reason: String, ExpressibleByArgument, CaseIterable {
            case purged
            case encryptedDataReset = "encrypted-data-reset"

            /// The reason's name in the service.
            var wire: ZoneDeletionReason { self == .purged ? .purged : .encryptedDataReset }
        }

        private struct Deletion: Encodable {
            var userRecordName: String
            var zones: [String]?
            var reason: ZoneDeletionReason
            var environment: ServiceEnvironment
        }

        func run() async throws {
            let container = try await place.selected()
            let deletion = Deletion(
                userRecordName: try await container.user(user),
                zones: zones.isEmpty ? nil : zones,
                reason: reason.wire,
                environment: try environment ?? .ofProcess
            )
            try await container.send("POST", "delete-zones", deletion)
            guard !output.json else { return try output.write(deletion) }
            Console.say(
                zones.isEmpty
                    ? "All zones of \(user) but the default one are deleted"
                    : "Deleted \(Amount.text(zones.count, "zone")) of \(user)"
            )
        }
    }
}
