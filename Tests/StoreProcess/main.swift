import CloudKit
import CloudKitExtras
import CloudKitStore
import CloudKitWebClient
import Foundation
import GRDB

// An app's process that a test starts beside its own, to end it without warning:
//
//     StoreProcess DATABASE URL CONTAINER API-TOKEN WEB-AUTH-TOKEN TABLE
//
// opens the store of a file that contains the table, syncs, prints "leading" or "following", and
// continues until it is ended. A column `photo` of the table holds assets; of one that it downloads,
// it prints "downloaded" instead, and keeps its file.

let arguments = CommandLine.arguments
guard arguments.count == 7 else {
    fatalError("usage: StoreProcess DATABASE URL CONTAINER API-TOKEN WEB-AUTH-TOKEN TABLE")
}

func tell(_ word: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data((word + "\n").utf8))
}

/// A transport whose downloads write their files and never return.
struct EndlessDownloads: Transport {
    let http = HTTPTransport()

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await http.send(request)
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await http.upload(file, to: url, progress: progress)
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await http.download(url, to: file, progress: progress)
        try tell("downloaded")
        while true { try await Task.sleep(for: .seconds(60)) }
    }
}

var settings = Configuration()
settings.busyMode = .timeout(60)
let client = WebClient(
    url: arguments[2],
    container: arguments[3],
    environment: .development,
    credentials: WebCredentials(apiToken: arguments[4], webAuthToken: arguments[5]),
    transport: EndlessDownloads()
)
var configuration = CloudStore.Configuration()
configuration.otherProcessInterval = .milliseconds(20)
let database = try DatabaseQueue(path: arguments[1], configuration: settings)
let hasPhotos = try database.read { database in
    try database.columns(in: arguments[6]).contains { $0.name == "photo" }
}
let store = try CloudStore(
    database: database,
    container: CKContainer(client: client),
    tables: [.table(arguments[6], assets: hasPhotos ? ["photo": .withRow] : [:])],
    configuration: configuration
)
try await store.start()
try await store.sync()
try tell(store.isLeading ? "leading" : "following")
while true { try await Task.sleep(for: .seconds(60)) }
