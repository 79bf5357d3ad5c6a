import CloudKit
import Synchronization

/// An app that only listens: it keeps the names of the records of all zones that its engine fetches.
final class Inbox: CKSyncEngineDelegate {
    private struct Contents {
        var names: [String: String] = [:]
        var zones: Set<String> = []
        var events: [String] = []
        var engine: CKSyncEngine?
    }

    private let contents = Mutex(Contents())
    /// One element after every event.
    let events: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    init(_ database: CKDatabase, environment: SyncEngineEnvironment? = nil) {
        (events, tell) = AsyncStream.makeStream()
        let configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: self
        )
        let engine = CKSyncEngine(configuration, environment: environment ?? .live)
        contents.withLock { $0.engine = engine }
    }

    /// Values of the field `name` by record name.
    var names: [String: String] { contents.withLock { $0.names } }
    /// The names of the existing zones.
    var zones: Set<String> { contents.withLock { $0.zones } }
    /// The number of fetches that have begun.
    var fetches: Int { contents.withLock { $0.events.filter { $0 == "willFetchChanges" }.count } }

    /// Waits until the app has the expected contents.
    func wait(until isDone: (Inbox) -> Bool) async {
        if isDone(self) { return }
        for await _ in events where isDone(self) { return }
    }

    /// Releases the engine.
    func stop() {
        let engine = contents.withLock { contents in
            defer { contents.engine = nil }
            return contents.engine
        }
        // Released outside the lock.
        _ = engine
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        contents.withLock { contents in
            contents.events.append("\(event)".split(separator: " ").first.map(String.init) ?? "")
            switch event {
            case .fetchedDatabaseChanges(let changes):
                contents.zones.formUnion(changes.modifications.map(\.zoneID.zoneName))
                contents.zones.subtract(changes.deletions.map(\.zoneID.zoneName))
            case .fetchedRecordZoneChanges(let changes):
                for modification in changes.modifications {
                    contents.names[modification.record.recordID.recordName] =
                        modification.record["name"] ?? ""
                }
                for deletion in changes.deletions {
                    contents.names[deletion.recordID.recordName] = nil
                }
            default: break
            }
        }
        tell.yield()
    }
}
