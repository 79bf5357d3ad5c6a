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

        func run() async throws {
            let container = try await place.selected()
            try await container.send("POST", "reset", ["keepsSchema": keepSchema])
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

        func run() async throws {
            try await place.selected().send("POST", "expire-change-tokens")
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

        @Option(
            help: "The user: record name, e-mail address, or a full name that only one user has."
        )
        var user: String

        @Option(
            help: """
                purged, when the user deleted the app's data in the settings, or \
                encrypted-data-reset, when the user reset the keys.
                """
        )
        var reason = Reason.purged

        @Option(help: "development or production; CLOUDKIT_ENVIRONMENT, or development.")
        var environment: ServiceEnvironment?

        @OptionGroup(title: "Server")
        var place: ContainerOptions

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
            try await container.send(
                "POST",
                "delete-zones",
                Deletion(
                    userRecordName: try await container.user(user),
                    zones: zones.isEmpty ? nil : zones,
                    reason: reason.wire,
                    environment: try environment ?? .ofProcess
                )
            )
        }
    }
}
