import ArgumentParser
import Foundation

/// A command that calls any route for operators.
struct OperateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operate",
        abstract: "Call a route for operators, and print the JSON of its response.",
        discussion: """
            For what has no command of its own, such as adding a user from another machine:

            cloudkit operate POST containers/iCloud.com.example.app/users --body '{"name": "Ada"}'
            """
    )

    @Argument(help: "GET, PUT, POST or DELETE.")
    var method: String

    @Argument(help: "The path below /_ck/, such as overview.")
    var path: String

    @Option(help: "The body as JSON; - reads it from standard input.")
    var body: String?

    @OptionGroup(title: "Server")
    var options: OperatorOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let prefix = "/_ck/"
        let route = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
        let body = try body.map { $0 == "-" ? try InputFile.data(at: $0) : Data($0.utf8) }
        let response = try await options.server().data(method.uppercased(), route, body)
        try Console.write(String(decoding: response, as: UTF8.self))
    }
}
