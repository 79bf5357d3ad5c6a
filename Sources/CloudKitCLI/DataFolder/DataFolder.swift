import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Logging

/// The folder of a server's data, to be administered beside the server if that is running.
///
/// Both work on one SQLite file, which lets one write at a time; what a server keeps in memory is
/// looked up again after 5 seconds at most.
struct DataFolder {
    let path: String
    /// The container that was asked for; nil for the only one.
    let container: String?

    /// Refuses a folder that is none of a server.
    ///
    /// - Throws: `CommandFailure`.
    func check() throws {
        guard !FileManager.default.fileExists(atPath: path + "/cloud.sqlite") else { return }
        throw CommandFailure(
            unusable: "\(path) is no data folder of a server; name one with --data"
        )
    }

    /// The folder's service.
    ///
    /// - Parameter makes: Whether a folder that is not there is made.
    /// - Returns: The service, with nothing listening.
    /// - Throws: `CommandFailure` when there is no such folder.
    func open(makes: Bool = false) throws -> CloudService {
        if !FileManager.default.fileExists(atPath: path + "/cloud.sqlite") {
            guard makes else {
                throw CommandFailure(
                    unusable:
                        "\(path) is no data folder of a server; name one with --data, make one "
                        + "with cloudkit serve, or give --new"
                )
            }
            Console.say("Making the data folder \(path)")
            do {
                try FileManager.default.createDirectory(
                    atPath: path,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            } catch {
                throw CommandFailure(unusable: "\(path) cannot be made: \(error)")
            }
        }
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .critical
        return try CloudServer(configuration: .init(directory: path), logger: logger).service
    }

    /// The container that is meant.
    ///
    /// - Parameters:
    ///   - service: The folder's service.
    ///   - makes: Whether a container that is not there will be made.
    /// - Returns: The container's identifier.
    /// - Throws: `CommandFailure` when it is not clear or not there.
    func containerName(_ service: CloudService, makes: Bool = false) async throws -> String {
        let names = try await service.containers()
        let found = names.isEmpty ? "none" : names.joined(separator: ", ")
        let variables = ProcessInfo.processInfo.environment
        guard let name = container ?? variables[ConnectionVariables.Name.container] else {
            guard let name = names.first, names.count == 1 else {
                throw CommandFailure(unusable: "Give --container; \(path) has \(found)")
            }
            return name
        }
        if names.contains(name) { return name }
        guard makes else {
            throw CommandFailure(
                unusable: "No container \(name) in \(path), which has \(found); --new makes one"
            )
        }
        Console.say("\(name) is a new container of \(path)")
        return name
    }
}
