import CloudKit
import CloudKitExtras
import CloudKitStore
import CloudKitWebClient
import Foundation
import GRDB

// An app's process that a test starts beside its own, to end it without warning:
//
//     StoreProcess DATABASE URL CONTAINER API-TOKEN WEB-AUTH-TOKEN
//
// opens the store of a file that contains a table `note`, syncs, prints "leading" or "following", and
// continues until it is ended.

let arguments = CommandLine.arguments
guard arguments.count == 6 else {
    fatalError("usage: StoreProcess DATABASE URL CONTAINER API-TOKEN WEB-AUTH-TOKEN")
}
var settings = Configuration()
settings.busyMode = .timeout(60)
let client = WebClient(
    url: arguments[2],
    container: arguments[3],
    environment: .development,
    credentials: WebCredentials(apiToken: arguments[4], webAuthToken: arguments[5])
)
var configuration = CloudStore.Configuration()
configuration.otherProcessInterval = .milliseconds(20)
let store = try CloudStore(
    database: DatabaseQueue(path: arguments[1], configuration: settings),
    container: CKContainer(client: client),
    tables: [.table("note")],
    configuration: configuration
)
try await store.start()
try await store.sync()
let word = store.isLeading ? "leading\n" : "following\n"
try FileHandle.standardOutput.write(contentsOf: Data(word.utf8))
while true { try await Task.sleep(for: .seconds(60)) }
