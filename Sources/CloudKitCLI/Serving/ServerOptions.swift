import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import Foundation

/// What `serve` and `exec` have in common: whom they serve and what tests may ask of them.
///
/// What is not given has no value here, so that `serve` can look for it elsewhere.
struct ServerOptions: ParsableArguments {
    @Option(
        help: """
            The container to serve; the one that is in the folder, or iCloud.com.example.app in a \
            new one.
            """
    )
    var container: String?

    /// The container of a new server of which nobody named one.
    static let usualContainer = "iCloud.com.example.app"

    @Option(
        name: .customLong("user"),
        help: """
            A user to sign in; those of an earlier start where none is named, and Ada at the first. \
            May be given several times.
            """
    )
    var users: [String] = []

    /// The user of a server for which nobody named one.
    static let usualUsers = ["Ada"]

    @Flag(help: "Make any container that a request names, empty, on its first use. For tests.")
    var anyContainer = false

    @Flag(
        help: """
            Believe the header X-CloudKit-User: a request is from the user that it names, who is \
            made on first use. For local work; loopback only.
            """
    )
    var userHeader = false

    @Flag(
        help: """
            Read every value that comes without a type by the schema, also where iCloud was seen to \
            refuse it.
            """
    )
    var typesBySchema = false

    @Flag(
        inversion: .prefixedNo,
        help:
            "Let saves in development make the types and fields that they need; they do by default."
    )
    var growsSchema: Bool?

    @Option(help: "Bytes that each user's records and assets may take, such as 500MB; no limit.")
    var quota: String?

    @Option(help: "Bytes that the public database may take, such as 2GB; no limit.")
    var publicQuota: String?

    @Option(help: "Requests that each user may make in a second; no limit.")
    var requestRate: Int?

    @Option(help: "A file with faults, as JSON; see the guide to testing.")
    var faults: String?

    @Flag(help: "Let POST /_ck/clock move the server's time forward. For tests.")
    var virtualClock = false

    @Flag(name: .shortAndLong, help: "Print each request, and for each refusal what to do.")
    var verbose = false

    @OptionGroup
    var terminal: TerminalOptions

    /// The settings that these options have for a server.
    struct Choice {
        var configuration: CloudServer.Configuration
        var container: String?
        var users: [String]
        /// Whether somebody named the users.
        var namesUsers: Bool
    }

    /// Reads the settings.
    ///
    /// - Throws: `CommandFailure` when one cannot be used.
    func choice(from settings: inout ServerSettings) throws -> Choice {
        var configuration = CloudServer.Configuration()
        let container = try settings.text("container", container)
        if let container, let problem = Self.problem(withContainer: container) {
            throw CommandFailure(unusable: "\(settings.place("container")): \(problem)")
        }
        let users = try settings.texts("user", users, default: Self.usualUsers)
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
        configuration.service.requestRate = try settings.number("request-rate", requestRate)
            .map { RequestRate(burst: $0, perSecond: Double($0)) }
        configuration.faults = try settings.text("faults", faults).map(Self.faultPlan)
        configuration.hasVirtualClock = try flag("virtual-clock", virtualClock)
        if try flag("verbose", verbose) {
            configuration.watcher = { entry in
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

    /// Why a text is no container's identifier; nil when it is one.
    static func problem(withContainer name: String) -> String? {
        let isFit = name.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && !"/?#%\\\"'".utf8.contains($0)
        }
        guard name.isEmpty || name.utf8.count > 255 || !isFit else { return nil }
        return "'\(name)' is no container; one is named like iCloud.com.example.app"
    }

    private static func faultPlan(_ path: String) throws -> FaultPlan {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure(unusable: "--faults \(path): the file cannot be read")
        }
        do {
            return try FaultPlan(json: data)
        } catch {
            throw CommandFailure(unusable: "--faults \(path): \(error.description)")
        }
    }
}
