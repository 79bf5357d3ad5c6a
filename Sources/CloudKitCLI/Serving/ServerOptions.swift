import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation

/// The common options of `serve` and `exec`: users and behavior for tests.
///
/// A missing option has no value here, so that `serve` can look for it elsewhere.
struct ServerOptions: ParsableArguments {
    @Option(
        help: """
            The container to serve; by default the one in the folder, or iCloud.com.example.app in a \
            new one.
            """
    )
    var container: String?

    /// The container of a new server, unless one is named.
    static let usualContainer = "iCloud.com.example.app"

    @Option(
        name: .customLong("user"),
        help: """
            A user to sign in; by default those of an earlier start, and Ada at the first. May be \
            given several times.
            """
    )
    var users: [String] = []

    /// The users of a server, unless any are named.
    static let usualUsers = ["Ada"]

    @Flag(help: "Create each container that a request names on its first use. For tests.")
    var anyContainer = false

    @Flag(
        help: """
            Trust the header X-CloudKit-User: a request is from the user that it names, who is \
            created on first use. For local work; loopback only.
            """
    )
    var userHeader = false

    @Flag(
        help: """
            Interpret every value without a type by the schema, even where iCloud was observed to \
            refuse it.
            """
    )
    var typesBySchema = false

    @Flag(
        inversion: .prefixedNo,
        help:
            "Let saves in development create types and fields; they do by default."
    )
    var growsSchema: Bool?

    @Option(help: "Maximum size of each user's records and assets, such as 500MB; no limit.")
    var quota: String?

    @Option(help: "Maximum size of the public database, such as 2GB; no limit by default.")
    var publicQuota: String?

    @Option(help: "Requests per second for each user; no limit by default.")
    var requestRate: Int?

    @Option(help: "A file with faults, as JSON; see the guide to testing.")
    var faults: String?

    @Flag(help: "Let POST /_ck/clock move the server's time forward. For tests.")
    var virtualClock = false

    @Flag(name: .shortAndLong, help: "Print each request, and for each refusal its remedy.")
    var verbose = false

    @OptionGroup
    var terminal: TerminalOptions

    /// The server settings of these options.
    struct Choice {
        var configuration: CloudServer.Configuration
        var container: String?
        var users: [String]
        /// `true` when users were named.
        var namesUsers: Bool
    }

    /// Reads the settings.
    ///
    /// - Throws: `CommandFailure` when a setting cannot be used.
    func choice(from settings: inout ServerSettings) throws -> Choice {
        var configuration = CloudServer.Configuration()
        let container = try settings.text("container", container)
        if let container, let problem = ContainerName.problem(container) {
            throw CommandFailure(unusable: "\(settings.place("container")): \(problem)")
        }
        let users = try settings.texts("user", users, default: Self.usualUsers)
        for user in users { try Self.check(user, settings.place("user")) }
        let namesUsers = !settings.isDefault("user")
        func flag(_ name: String, _ given: Bool) throws -> Bool {
            try settings.flag(name, given ? true : nil)
        }
        configuration.service.opensContainers = try flag("any-container", anyContainer)
        configuration.service.acceptsUserNames = try flag("user-header", userHeader)
        configuration.service.readsTypesBySchema = try flag("types-by-schema", typesBySchema)
        configuration.service.growsSchema =
            try settings.flag("grows-schema", growsSchema, default: true)
        configuration.service.userQuotaBytes = try settings.bytes("quota", quota)
        configuration.service.publicQuotaBytes = try settings.bytes("public-quota", publicQuota)
        configuration.service.requestRate = try settings.number(
            "request-rate",
            requestRate,
            in: 1...1_000_000
        )
        .map { RequestRate(burst: $0, perSecond: Double($0)) }
        configuration.faults = try settings.text("faults", faults).map(Self.faultPlan)
        configuration.hasVirtualClock = try flag("virtual-clock", virtualClock)
        if try flag("verbose", verbose) {
            configuration.onRequest = { entry in
                Console.say(
                    entry.description,
                    entry.status >= 500 ? .red : entry.status >= 400 ? .yellow : nil
                )
            }
        }
        return Choice(
            configuration: configuration,
            container: container,
            users: users,
            namesUsers: namesUsers
        )
    }

    /// Refuses a text that cannot be a user's name.
    private static func check(_ user: String, _ place: String) throws {
        do {
            try CloudService.checkUserName(user)
        } catch {
            throw CommandFailure(unusable: "\(place): \(error.reason ?? user)")
        }
    }

    /// Returns the faults in a file, or in standard input for `-`: a plan, or the lines that
    /// `cloudkit faults list --json` prints.
    ///
    /// - Throws: `CommandFailure` for a file without any.
    static func faultPlan(_ path: String) throws -> FaultPlan {
        let data = try InputFile.data(at: path)
        let lines = data.split(separator: UInt8(ascii: "\n"))
        guard !lines.isEmpty else {
            throw CommandFailure(
                unusable: "\(path) is empty; cloudkit faults clear removes all rules"
            )
        }
        // The reader of plans reports a text that is no JSON.
        let rules = lines.compactMap {
            (try? JSONSerialization.jsonObject(with: $0) as? [String: Any])?["rule"]
        }
        let isList = rules.count == lines.count
        let plan = isList ? try JSONSerialization.data(withJSONObject: ["rules": rules]) : data
        do {
            return try FaultPlan(json: plan)
        } catch {
            throw CommandFailure(unusable: "\(path): \(error.description)")
        }
    }
}
