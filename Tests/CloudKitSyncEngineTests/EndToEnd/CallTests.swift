import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Calls of an engine")
struct CallTests {
    @Test(
        "Every request of a call goes out as the call's operation group says",
        arguments: CloudFixture.allCases
    )
    func operationGroup(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let way = ScriptedTransport()
            let container = try await cloud.device(
                of: try await cloud.addUser(),
                transport: way.over
            )
            let phone = Contacts(container.privateCloudDatabase)
            phone.save(["1": "Ann"])
            // The engine's own request for the signed-in user belongs to no call.
            for await name in phone.names where name == "accountChange" { break }
            func timeouts(_ call: () async throws -> Void) async throws -> [Double] {
                let count = way.requests.count
                try await call()
                return way.timeouts(after: count)
            }
            let group = CKOperationGroup()
            group.defaultConfiguration.timeoutIntervalForRequest = 7
            let sending = try await timeouts {
                try await phone.engine.sendChanges(.init(operationGroup: group))
            }
            #expect(Set(sending) == [7] && sending.count >= 2)

            let other = CKOperationGroup()
            other.defaultConfiguration.timeoutIntervalForRequest = 8
            let fetching = try await timeouts {
                try await phone.engine.fetchChanges(.init(operationGroup: other))
            }
            #expect(Set(fetching) == [8] && fetching.count >= 2)

            let plain = try await timeouts { try await phone.engine.fetchChanges() }
            #expect(Set(plain) == [60])
        }
    }

    @Test("A call's group reaches the delegate, and the group that it returns holds from then on")
    func groupOfDelegate() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let way = ScriptedTransport()
            let container = try await cloud.device(
                of: try await cloud.addUser(),
                transport: way.over
            )
            let delegate = Asking()
            let engine = delegate.engine(of: container.privateCloudDatabase)
            try await engine.sendChanges()
            let count = way.requests.count
            let group = CKOperationGroup()
            group.name = "Opening"
            try await engine.fetchChanges(.init(operationGroup: group))
            #expect(delegate.groups == ["Opening"])
            #expect(Set(way.timeouts(after: count)) == [9])
        }
    }

    @Test("Awaiting the engine is an error in each of the delegate's methods")
    func everyMethod() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let delegate = Asking(awaitsEngine: true)
            let engine = delegate.engine(
                of: try await cloud.database(of: try await cloud.addUser())
            )
            try await engine.sendChanges()
            try await engine.fetchChanges()
            #expect(delegate.errors.count == 2)
            #expect(Set(delegate.errors) == [.invalidArguments])
        }
    }

    @Test("What is cancelled has ended, says so, and stays pending", .timeLimit(.minutes(10)))
    func cancellation() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let (arrivals, arrive) = AsyncStream<Void>.makeStream()
            let holding = ScriptedTransport { request, _ in
                guard request.isAbout("records/modify") else { return nil }
                let (silence, end) = AsyncStream<Never>.makeStream()
                arrive.yield()
                await withTaskCancellationHandler {
                    for await _ in silence {}
                } onCancel: {
                    end.finish()
                }
                throw TransportError(.cancelled, message: "The request was cancelled")
            }
            let container = try await cloud.device(
                of: try await cloud.addUser(),
                transport: holding.over
            )
            let phone = Contacts(container.privateCloudDatabase)
            phone.save(["1": "Ann"])
            let call = Task { try await phone.engine.sendChanges() }
            for await _ in arrivals { break }
            await phone.engine.cancelOperations()
            await expectCKError(.operationCancelled) { try await call.value }
            #expect(phone.story.last == "didSendChanges" || phone.story.last == "stateUpdate")
            #expect(phone.story.filter { $0 == "willSendChanges" }.count == 1)
            #expect(phone.story.filter { $0 == "didSendChanges" }.count == 1)
            #expect(phone.engine.state.pendingRecordZoneChanges.count == 1)
        }
    }

    @Test("A scope sends and fetches what lies in it, and nothing else")
    func scope() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            let database = try await cloud.database(of: ada)
            let phone = Contacts(database)
            phone.save(["1": "Ann", "2": "Ben"])
            try await phone.engine.sendChanges(.init(scope: .recordIDs([phone.recordID("1")])))
            #expect(
                phone.engine.state.pendingRecordZoneChanges == [.saveRecord(phone.recordID("2"))]
            )
            try await phone.engine.sendChanges(.init(scope: .allExcluding([Contacts.zoneID])))
            #expect(phone.engine.state.pendingRecordZoneChanges.count == 1)

            let laptop = Contacts(try await cloud.database(of: ada))
            try await laptop.engine.fetchChanges(.init(scope: .zoneIDs([])))
            #expect(laptop.list.isEmpty)
            #expect(laptop.engine.state.zoneIDsWithUnfetchedServerChanges == [Contacts.zoneID])
            try await laptop.engine.fetchChanges(.init(scope: .zoneIDs([Contacts.zoneID])))
            #expect(laptop.list == ["1": "Ann"])
            #expect(laptop.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
        }
    }

    @Test("An app that keeps track itself is asked for batches although none is pending")
    func untracked() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let delegate = Asking(tracksItself: true)
            let engine = delegate.engine(of: database)
            engine.state.add(
                pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Contacts.zoneID))]
            )
            engine.state.hasPendingUntrackedChanges = true
            try await engine.sendChanges()
            #expect(engine.state.hasPendingUntrackedChanges == false)
            #expect(try await database.record(for: Contacts.recordID("own"))["name"] == "Ann")
        }
    }

    @Test("An edit that the delegate adds after its record was read goes with the next batch")
    func editAfterReading() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let delegate = Editing()
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: nil,
                delegate: delegate
            )
            configuration.automaticallySync = false
            let engine = CKSyncEngine(configuration)
            engine.state.add(
                pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Contacts.zoneID))]
            )
            engine.state.hasPendingUntrackedChanges = true
            try await engine.sendChanges()
            #expect(delegate.sent == ["Ann", "Anna"])
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(try await database.record(for: Contacts.recordID("own"))["name"] == "Anna")
        }
    }
}

/// A delegate whose user renames a contact as soon as its record was created for the first batch.
private final class Editing: CKSyncEngineDelegate {
    private struct State {
        var name = "Ann"
        var record = CKRecord(recordType: "Contact", recordID: Contacts.recordID("own"))
        var sent: [String] = []
    }

    private let state = Mutex(State())

    var sent: [String] { state.withLock { $0.sent } }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard case .sentRecordZoneChanges(let event) = event else { return }
        syncEngine.state.hasPendingUntrackedChanges = false
        state.withLock { state in
            for record in event.savedRecords {
                state.record = record
                state.sent.append(record["name"] ?? "")
            }
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        // The first time nothing is pending: the app tracks its changes itself.
        let isFirst = syncEngine.state.hasPendingUntrackedChanges
        let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(Contacts.recordID("own"))
        let changes = isFirst ? [change] : syncEngine.state.pendingRecordZoneChanges
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { _ in
            let record = self.state.withLock { state in
                state.record["name"] = state.name
                state.name = "Anna"
                return state.record
            }
            if isFirst { syncEngine.state.add(pendingRecordZoneChanges: [change]) }
            return record
        }
    }
}

/// A delegate whose methods perform the calls under test.
private final class Asking: CKSyncEngineDelegate {
    private struct State {
        var groups: [String] = []
        var errors: [CKError.Code] = []
        var isSent = false
    }

    private let awaitsEngine: Bool
    private let tracksItself: Bool
    private let state = Mutex(State())

    init(awaitsEngine: Bool = false, tracksItself: Bool = false) {
        self.awaitsEngine = awaitsEngine
        self.tracksItself = tracksItself
    }

    var groups: Set<String> { Set(state.withLock { $0.groups }) }
    var errors: [CKError.Code] { state.withLock { $0.errors } }

    func engine(of database: CKDatabase) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: self
        )
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    private func awaitEngine(_ engine: CKSyncEngine) async {
        guard awaitsEngine else { return }
        do {
            try await engine.fetchChanges()
        } catch {
            let code = (error as? CKError)?.code
            state.withLock { $0.errors += [code].compactMap { $0 } }
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .sentRecordZoneChanges = event {
            syncEngine.state.hasPendingUntrackedChanges = false
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await awaitEngine(syncEngine)
        guard tracksItself, syncEngine.state.hasPendingUntrackedChanges else { return nil }
        let record = CKRecord(recordType: "Contact", recordID: Contacts.recordID("own"))
        record["name"] = "Ann"
        return .init(recordsToSave: [record])
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        await awaitEngine(syncEngine)
        let name = context.options.operationGroup.name
        state.withLock { $0.groups += [name].compactMap { $0 } }
        let group = CKOperationGroup()
        group.defaultConfiguration.timeoutIntervalForRequest = 9
        return .init(scope: context.options.scope, operationGroup: group)
    }
}

extension ScriptedTransport {
    /// Returns the timeouts of the data requests after a number of others.
    fileprivate func timeouts(after count: Int) -> [Double] {
        requests.dropFirst(count).filter { !$0.isAbout("users/caller") }.map(\.timeout)
    }
}
