import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import Logging
import ServiceLifecycle

// A server that a test starts as a process of its own, to end it without warning:
//
//     ServerProcess DIRECTORY
//
// prints one line, "URL API-TOKEN WEB-AUTH-TOKEN", as soon as it listens.

guard CommandLine.arguments.count == 2 else { fatalError("usage: ServerProcess DIRECTORY") }
LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
let container = "iCloud.com.example.notes"
let server = try CloudServer(configuration: .init(directory: CommandLine.arguments[1]))
let apiToken = try await server.service.addAPIToken(
    container: container,
    environment: .development
)
let known = try await server.service.users(container: container).first
let user =
    if let known { known } else {
        try await server.service.addUser(container: container, name: "Ada")
    }
let webToken = try await server.service.addWebAuthToken(
    user: user,
    apiToken: apiToken,
    environment: .development
)
try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await server.run() }
    let url = try await server.url()
    let line = "\(url) \(apiToken) \(webToken)\n"
    try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    try await group.waitForAll()
}
