import CloudKit
import Support
import Testing

@Suite("A delegate on the main actor")
struct MainActorTests {
    @Test(
        "Its methods run there, one after the other and in the documented order",
        arguments: CloudFixture.allCases
    )
    func isolation(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = await ScreenNotes(try await cloud.database(of: ada))
            try await phone.save("Milk")
            let sending = await phone.story
            #expect(
                sending == [
                    "accountChange", "stateUpdate", "willSendChanges", "sentDatabaseChanges",
                    "stateUpdate", "batch", "sentRecordZoneChanges", "stateUpdate", "batch",
                    "didSendChanges",
                ]
            )
            let laptop = await ScreenNotes(try await cloud.database(of: ada))
            try await laptop.refresh()
            let fetching = await laptop.story
            #expect(
                fetching == [
                    "accountChange", "stateUpdate", "willFetchChanges", "options",
                    "fetchedDatabaseChanges", "stateUpdate", "options",
                    "willFetchRecordZoneChanges", "fetchedRecordZoneChanges",
                    "didFetchRecordZoneChanges", "stateUpdate", "didFetchChanges",
                ]
            )
            #expect(await laptop.titles == ["n": "Milk"])
            for notes in [phone, laptop] {
                #expect(await notes.overlaps == 0)
            }
        }
    }
}

/// A model of the user interface, declared as its engine's delegate.
@MainActor
private final class ScreenNotes: CKSyncEngineDelegate {
    private(set) var titles: [String: String] = [:]
    private(set) var story: [String] = []
    /// The number of times that a method began before another had ended.
    private(set) var overlaps = 0
    private var isBusy = false
    private var engine: CKSyncEngine?
    private let zone = CKRecordZone(zoneName: "Notes")

    init(_ database: CKDatabase) {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: self
        )
        configuration.automaticallySync = false
        engine = CKSyncEngine(configuration)
    }

    func save(_ title: String) async throws {
        titles["n"] = title
        engine?.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        engine?.state.add(
            pendingRecordZoneChanges: [
                .saveRecord(CKRecord.ID(recordName: "n", zoneID: zone.zoneID))
            ]
        )
        try await engine?.sendChanges()
    }

    func refresh() async throws { try await engine?.fetchChanges() }

    /// Records a method call, and gives others every chance to run between its two halves.
    private func visit(_ name: String) async {
        if isBusy { overlaps += 1 }
        MainActor.preconditionIsolated()
        isBusy = true
        for _ in 0..<20 { await Task.yield() }
        isBusy = false
        story.append(name)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        await visit("\(event)".split(separator: " ").first.map(String.init) ?? "")
        guard case .fetchedRecordZoneChanges(let changes) = event else { return }
        for modification in changes.modifications {
            titles[modification.record.recordID.recordName] = modification.record["title"]
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await visit("batch")
        let changes = syncEngine.state.pendingRecordZoneChanges
            .filter(context.options.scope.contains)
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            await self.record(recordID)
        }
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        await visit("options")
        return context.options
    }

    private func record(_ recordID: CKRecord.ID) -> CKRecord? {
        guard let title = titles[recordID.recordName] else { return nil }
        let record = CKRecord(recordType: "Note", recordID: recordID)
        record["title"] = title
        return record
    }
}
