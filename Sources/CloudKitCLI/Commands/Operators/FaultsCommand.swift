import ArgumentParser
import CloudKitServerCore
import CloudKitWire
import Foundation

/// A command that makes a running server fail on purpose.
struct FaultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults",
        abstract: "Make a running server fail on purpose, and show which faults happened.",
        discussion: """
            A rule is a fault with KEY=VALUE settings, in the words of the guide to testing:

            cloudkit faults add error code=ZONE_BUSY operation=records/modify times=1
            """,
        subcommands: [List.self, Add.self, Remove.self, Set.self, Clear.self]
    )

    /// The rules in force, each with what it did.
    private struct State: Decodable {
        var plan: FaultPlan?
        var counts: [FaultCount]

        func write(_ output: OutputOptions) throws {
            let rules = plan?.rules ?? []
            let entries = zip(rules, counts).enumerated().map { index, pair in
                Entry(number: index + 1, rule: pair.0, count: pair.1)
            }
            let texts = try rules.map(FaultExpression.text)
            try output.write(entries, header: "number", "rule", "matched", "happened") { entry in
                [
                    [
                        String(entry.number), texts[entry.number - 1], String(entry.count.fitting),
                        String(entry.count.taken),
                    ]
                ]
            }
        }
    }

    private struct Entry: Encodable {
        var number: Int
        var rule: FaultRule
        var count: FaultCount
    }

    /// Calls a route, and prints the rules that are in force then.
    private static func call(
        _ method: String,
        _ path: String,
        _ body: (any Encodable)?,
        _ options: OperatorOptions,
        _ output: OutputOptions
    ) async throws {
        let state: State = try await options.server().call(method, path, body)
        try state.write(output)
    }
}

extension FaultsCommand {
    /// Lists the rules in force.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the rules in force, and how often each took effect."
        )

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            try await FaultsCommand.call("GET", "faults", nil, options, output)
        }
    }

    /// Adds a rule.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a rule to those in force, which keep their counts."
        )

        @Argument(help: "The fault, such as error, lostResponse, delay or throttle.")
        var fault: String

        @Argument(help: "Its settings and the requests that it affects, each as KEY=VALUE.")
        var settings: [String] = []

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let rule = try FaultExpression(fault, settings).rule
            let body = NewRules(rules: [rule])
            try await FaultsCommand.call("POST", "faults", body, options, output)
        }

        /// Rules without a seed: those in force go on with theirs.
        private struct NewRules: Encodable {
            var rules: [FaultRule]
        }
    }

    /// Removes a rule.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove one rule; the others keep their counts."
        )

        @Argument(help: "The rule's number in the list.")
        var number: Int

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            try await FaultsCommand.call("DELETE", "faults/\(number)", nil, options, output)
        }
    }

    /// Replaces all rules.
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Replace all rules by those of a file, and count from the beginning.",
            discussion: """
                The file is one that cloudkit serve --faults reads, or has the lines of cloudkit \
                faults list --json.
                """
        )

        @Argument(help: "The file; - reads standard input.")
        var file: String

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let plan = try ServerOptions.faultPlan(file)
            try await FaultsCommand.call("PUT", "faults", plan, options, output)
        }
    }

    /// Removes all rules.
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove all rules."
        )

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            try await FaultsCommand.call("DELETE", "faults", nil, options, output)
        }
    }
}
