import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import Foundation

/// What `serve` and `exec` have in common: whom they serve and what tests may ask of them.
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

    @Option(name: .customLong("user"), help: "A user to sign in; may be given several times.")
    var users: [String] = ["Ada"]

    @Flag(help: "Make any container that a request names, empty, on its first use. For tests.")
    var anyContainer = false

    @Flag(
        help: """
            Believe the header X-CloudKit-User: a request is from the user that it names, who is \
            made on first use. For local work; loopback only.
            """
    )
    var userHeader = false

    @Option(help: "A file with faults, as JSON; see the guide to testing.")
    var faults: String?

    @Flag(help: "Let POST /_ck/clock move the server's time forward. For tests.")
    var virtualClock = false

    @Flag(name: .shortAndLong, help: "Print each request, and for each refusal what to do.")
    var verbose = false

    /// The configuration of a server for these options.
    ///
    /// - Throws: `ValidationError` when the file of faults cannot be used.
    func configuration(directory: String?, port: Int) throws -> CloudServer.Configuration {
        var configuration = CloudServer.Configuration(directory: directory, port: port)
        configuration.service.opensContainers = anyContainer
        configuration.service.acceptsUserNames = userHeader
        configuration.hasVirtualClock = virtualClock
        configuration.faults = try faultPlan()
        if verbose {
            configuration.watcher = { entry in Console.say(entry.description) }
        }
        return configuration
    }

    private func faultPlan() throws -> FaultPlan? {
        guard let faults else { return nil }
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: faults))
        } catch {
            throw ValidationError("--faults \(faults): the file cannot be read")
        }
        do {
            return try FaultPlan(json: data)
        } catch {
            throw ValidationError("--faults \(faults): \(error.description)")
        }
    }
}
