import ArgumentParser

/// A command that shows and advances the clock of a running server.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Show a running server's time, and advance it.",
        subcommands: [Show.self, Advance.self]
    )

    private struct State: Codable {
        var milliseconds: Int64
        var canBeMoved: Bool

        func write(_ output: OutputOptions) throws {
            guard !output.json else { return try output.write(self) }
            try Console.write(ValueText.date(milliseconds))
        }
    }

    private struct Step: Encodable {
        var advanceSeconds: Int64
    }
}

extension ClockCommand {
    /// Prints the time.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the server's time."
        )

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let state: State = try await options.server().call("GET", "clock")
            try state.write(output)
        }
    }

    /// Advances the time.
    struct Advance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "advance",
            abstract: "Advance the time of a server that was started with --virtual-clock.",
            discussion: "What has expired by then is deleted."
        )

        @Argument(help: "The time span, such as 90s, 15m, 1h or 30d; a number is seconds.")
        var span: TimeSpan

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        /// The seconds of a thousand years, to which clocks do not move at once.
        private static let limit: Int64 = 31_557_600_000

        func validate() throws {
            guard span.seconds < Self.limit else {
                throw ValidationError(
                    "A clock moves forward by less than a thousand years at once; give a time span such "
                        + "as 90s, 15m, 1h or 30d"
                )
            }
        }

        func run() async throws {
            let server = try options.server()
            let now: State = try await server.call("GET", "clock")
            guard now.canBeMoved else {
                throw CommandFailure(
                    "The server's clock cannot be moved; start it with --virtual-clock"
                )
            }
            let step = Step(advanceSeconds: span.seconds)
            let state: State = try await server.call("POST", "clock", step)
            try state.write(output)
        }
    }
}
