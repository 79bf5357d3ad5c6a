import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import Logging
import ServiceLifecycle

// A server that a test starts in its own process, to end it without warning:
//
//     ServerProcess DIRECTORY [USERS]
//
// prints one line, "URL API-TOKEN WEB-AUTH-TOKEN …", as soon as it listens: a token for each user. A node of a
// PostgreSQL database, behind a proxy at an address, prints "URL" alone:
//
//     ServerProcess --database ADDRESS PORT PUBLIC-URL ASSETS

let arguments = CommandLine.arguments
#if PostgreSQL
if arguments.count == 6, arguments[1] == "--database", let port = Int(arguments[3]) {
    try await serve(
        database: arguments[2],
        port: port,
        publicURL: arguments[4],
        assets: arguments[5]
    )
    exit(0)
}
#endif
guard (2...3).contains(arguments.count) else {
    fatalError("usage: ServerProcess DIRECTORY [USERS]")
}
let userCount = arguments.count > 2 ? Int(arguments[2]) ?? 1 : 1
LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
let container = "iCloud.com.example.notes"
let server = try CloudServer(configuration: .init(directory: arguments[1]))
let apiToken = try await server.service.addAPIToken(
    container: container,
    environment: .development
)
let known = try await server.service.users(container: container)
var webTokens: [String] = []
for number in 0..<userCount {
    let name = number == 0 ? "Ada" : "Ada \(number)"
    var user = known.first {
        [$0.givenName, $0.familyName].compactMap(\.self).joined(separator: " ") == name
    }
    if user == nil { user = try await server.service.addUser(container: container, name: name) }
    guard let user else { continue }
    webTokens.append(
        try await server.service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: .development
        )
    )
}
try await withThrowingTaskGroup(of: Void.self) { [webTokens] group in
    group.addTask { try await server.run() }
    let url = try await server.url()
    let line = "\(url) \(apiToken) \(webTokens.joined(separator: " "))\n"
    try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    try await group.waitForAll()
}
