import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import CloudKitWire
import Foundation

/// A command that shows the requests to a running server, and sends one again.
struct RequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Show the newest requests to a running server, and send one again.",
        discussion: "A server keeps the last 1,000 requests until it stops.",
        subcommands: [List.self, Show.self, Replay.self, Clear.self]
    )

    private struct Page: Decodable {
        var entries: [JournalEntry]
        var last: Int
    }

    /// A request with the beginnings of its bodies.
    private struct Exchange: Codable {
        struct Bodies: Codable {
            var request: String
            var response: String
            var isWhole: Bool
        }

        var entry: JournalEntry
        var bodies: Bodies?
    }

    /// The requests that are listed.
    enum Selection: String, ExpressibleByArgument, CaseIterable {
        case problems, faults
    }
}

extension RequestsCommand {
    /// Lists requests.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the newest requests, and for each refusal its remedy."
        )

        @Flag(help: "Continue with each new request, until Ctrl-C.")
        var follow = false

        @Option(help: "List only requests with problems, or only those with faults on purpose.")
        var only: Selection?

        @Option(help: "The maximum number of past requests; 0 for all.")
        var limit = 50

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit \(limit): give 0 or more") }
        }

        func run() async throws {
            let server = try options.server()
            var page: Page = try await server.call("GET", "journal")
            let past = page.entries.filter(isSelected)
            try show(past.suffix(limit == 0 ? past.count : limit))
            while follow {
                let last = page.last
                page = try await server.call("GET", "journal?after=\(last)&wait=25")
                // A server that was started again counts from 1.
                if page.last < last { page = try await server.call("GET", "journal") }
                try show(page.entries.filter(isSelected)[...])
            }
        }

        private func isSelected(_ entry: JournalEntry) -> Bool {
            switch only {
            case nil: true
            case .problems: entry.status >= 400 || !entry.problems.isEmpty
            case .faults: !entry.faults.isEmpty
            }
        }

        private func show(_ entries: ArraySlice<JournalEntry>) throws {
            for entry in entries {
                if output.json {
                    try output.write(entry)
                } else {
                    try Console.write("\(entry.number)  \(entry)")
                }
            }
        }
    }

    /// Prints one request with its bodies.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print a request with the beginnings of both bodies, without tokens."
        )

        @Argument(help: "The request's number in the list.")
        var number: Int

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let exchange: Exchange = try await options.server().call("GET", "journal/\(number)")
            guard !output.json else { return try output.write(exchange) }
            let entry = exchange.entry
            try Console.write("\(entry.number)  \(entry)")
            try Console.write("Identifier: \(TerminalText.line(entry.id))")
            if let user = entry.user { try Console.write("User: \(TerminalText.line(user))") }
            guard let bodies = exchange.bodies else {
                return Console.say("This server keeps no bodies, because others may reach it.")
            }
            for (name, body) in [("Request", bodies.request), ("Response", bodies.response)] {
                try Console.write("\(name): \(TerminalText.lines(body))")
            }
            if !bodies.isWhole { Console.say("Only the beginnings of long bodies are kept.") }
        }
    }

    /// Sends one request again.
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Send a request again as its user, and print the response.",
            discussion: """
                Only on the server's own machine, where no other machine reaches the server. A \
                request that was signed by a server-to-server key is sent as nobody.
                """
        )

        @Argument(help: "The request's number in the list.")
        var number: Int

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        private struct Session: Encodable {
            var environment: String
            var userRecordName: String?
        }

        func run() async throws {
            let server = try options.server()
            let exchange: Exchange = try await server.call("GET", "journal/\(number)")
            let entry = exchange.entry
            let place = entry.database?.split(separator: "/").map(String.init) ?? []
            guard let container = entry.container, place.count == 2,
                !entry.endpoint.hasPrefix("tokens/")
            else {
                throw CommandFailure(
                    "Request \(number) cannot be sent again: it is not one to a database"
                )
            }
            guard let bodies = exchange.bodies, bodies.isWhole else {
                throw CommandFailure(
                    "Request \(number) cannot be sent again: the server did not keep all of it"
                )
            }
            let session: OperatorSession = try await OperatedContainer(
                server: server,
                name: container
            ).call(
                "POST",
                "sessions",
                Session(environment: place[0], userRecordName: entry.user)
            )
            let path = ["database", "1", container, place[0], place[1]]
                .map(PercentEncoding.encode).joined(separator: "/")
            let tokens = [
                "ckAPIToken=\(session.apiToken)",
                session.webAuthToken.map { "ckWebAuthToken=\(PercentEncoding.encode($0))" },
                "clientId=\(ConnectionOptions.clientID)",
            ]
            let query = tokens.compactMap(\.self).joined(separator: "&")
            let response = try await OperatedServer.send(
                TransportRequest(
                    method: entry.method,
                    url: "\(server.url)/\(path)/\(entry.endpoint)?\(query)",
                    body: entry.method == "GET" ? nil : Data(bodies.request.utf8)
                )
            )
            try Console.write(String(decoding: response, as: UTF8.self))
            // Other responses, such as those of queries, have no results that fail one by one.
            let results = (try? WireJSON.decode(Results.self, from: response))?.results ?? []
            let failed = results.count { $0.serverErrorCode != nil }
            guard failed == 0 else {
                throw CommandFailure("\(failed) of \(results.count) failed")
            }
        }

        /// The items of a response, with the codes of those that failed.
        private struct Results: Decodable {
            struct Item: Decodable {
                var serverErrorCode: String?
            }

            var records: [Item]?
            var zones: [Item]?
            var subscriptions: [Item]?
            var results: [Item] { (records ?? []) + (zones ?? []) + (subscriptions ?? []) }
        }
    }

    /// Forgets the requests.
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Delete the requests from the server's list."
        )

        @OptionGroup(title: "Server")
        var options: OperatorOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            try await options.server().data("DELETE", "journal")
            if !output.json { Console.say("The server's list of requests is empty") }
        }
    }
}
