import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// A command that shows push notifications, and sends one as a test.
struct PushesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushes",
        abstract: "Show the notifications of a running server, send a test, and receive them.",
        subcommands: [List.self, Test.self, Listen.self]
    )
}

extension PushesCommand {
    /// Lists notifications.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the last 200 notifications; with --json with their payloads.",
            discussion: "A server that other machines reach shows no payloads."
        )

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        private struct Pushes: Decodable {
            var pushes: [PushEntry]
        }

        func run() async throws {
            let response: Pushes = try await place.selected().call("GET", "pushes")
            try output.write(
                response.pushes,
                header: "time",
                "user",
                "environment",
                "subscription",
                "devices"
            ) {
                [
                    [
                        ValueText.date($0.time), $0.userRecordName, $0.environment.rawValue,
                        $0.subscriptionID ?? "", String($0.devices),
                    ]
                ]
            }
        }
    }

    /// Sends a test.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Notify a user's devices as a subscription would, without a change.",
            discussion: """
                Only on the server's own machine, where no other machine reaches the server. \
                Prints the number of devices that listen.
                """
        )

        @Argument(help: "The subscription's identifier.")
        var subscription: String

        @Option(help: .user)
        var user: String

        @Option(help: "The subscription's database: public, private or shared.")
        var database = DatabaseScope.private

        @Option(help: .environment)
        var environment: ServiceEnvironment?

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        private struct TestPush: Encodable {
            var environment: ServiceEnvironment
            var userRecordName: String
            var database: DatabaseScope
            var subscriptionID: String
        }

        private struct Sent: Codable {
            var devices: Int
        }

        func run() async throws {
            let container = try await place.selected()
            let sent: Sent = try await container.call(
                "POST",
                "test-pushes",
                TestPush(
                    environment: try environment ?? .ofProcess,
                    userRecordName: try await container.user(user),
                    database: database,
                    subscriptionID: subscription
                )
            )
            guard !output.json else { return try output.write(sent) }
            try Console.write(Amount.text(sent.devices, "device"))
        }
    }

    /// Receives notifications as one more device.
    struct Listen: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "listen",
            abstract: "Receive your notifications as one more device, one per line, until Ctrl-C."
        )

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let client = try connection.client()
            let token = try await client.createToken(clientID: UUID().uuidString)
            Console.say("Listening")
            while true {
                let next = try await client.nextNotification(at: token.webcourierURL)
                if let next { try Console.write(String(decoding: next, as: UTF8.self)) }
            }
        }
    }
}
