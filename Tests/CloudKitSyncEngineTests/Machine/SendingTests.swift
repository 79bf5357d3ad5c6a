import CloudKit
import Testing

@Suite("Sending")
struct SendingTests {
    private static let recordID = CKRecord.ID(
        recordName: "a",
        zoneID: CKRecordZone.ID(zoneName: "Notes")
    )

    /// Codes after which a change stays pending; all others drop it.
    private static let passing: Set<CKError.Code> = [
        .notAuthenticated, .accountTemporarilyUnavailable, .networkFailure, .networkUnavailable,
        .requestRateLimited, .serviceUnavailable, .zoneBusy, .operationCancelled,
        .serverResponseLost,
    ]

    static let codes = (1...36).compactMap(CKError.Code.init(rawValue:))

    private func bench(
        isAutomatic: Bool = false,
        _ response: @escaping (CKSyncEngine.RecordZoneChangeBatch) -> SyncResponse
    ) -> MachineBench {
        MachineBench(isAutomatic: isAutomatic) { request in
            switch request {
            case .identifyUser: .user("_ada")
            case .subscribe: .subscribed("s")
            case .modifyRecords(let batch): response(batch)
            case .modifyZones(let saving, let deleting):
                .modifiedZones(
                    .init(
                        saves: Dictionary(
                            uniqueKeysWithValues: saving.map { ($0.zoneID, .success($0)) }
                        ),
                        deletions: Dictionary(
                            uniqueKeysWithValues: deleting.map { ($0, .success(())) }
                        )
                    )
                )
            case .databaseChanges:
                .databaseChanges(
                    .init(
                        modifications: [],
                        deletions: [],
                        token: CKServerChangeToken(text: "t"),
                        moreComing: false
                    )
                )
            case .zoneChanges: .failure(CKError(.zoneNotFound))
            }
        }
    }

    private static func saved(_ batch: CKSyncEngine.RecordZoneChangeBatch) -> SyncResponse {
        .modifiedRecords(
            .init(
                saves: Dictionary(
                    uniqueKeysWithValues: batch.recordsToSave.map { ($0.recordID, .success($0)) }
                ),
                deletions: Dictionary(
                    uniqueKeysWithValues: batch.recordIDsToDelete.map { ($0, .success(())) }
                )
            )
        )
    }

    @Test("A failed save stays pending exactly when it may pass", arguments: codes)
    func outcomeOfSave(_ code: CKError.Code) {
        var bench = bench { batch in
            .modifiedRecords(
                .init(saves: [batch.recordsToSave[0].recordID: .failure(CKError(code))])
            )
        }
        bench.tell(.start)
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        let error = bench.call(.send(.init()))
        #expect(error?.code == .partialFailure)
        #expect((error?.partialErrorsByItemID?[Self.recordID] as? CKError)?.code == code)
        #expect(bench.state.pendingRecordZoneChanges.isEmpty == !Self.passing.contains(code))
        // The batch gets one response, and no further batch is requested.
        #expect(bench.story.filter { $0 == "sentRecordZoneChanges" }.count == 1)
    }

    @Test("A failed deletion stays pending exactly when it may pass", arguments: codes)
    func outcomeOfDeletion(_ code: CKError.Code) {
        var bench = bench { batch in
            .modifiedRecords(
                .init(deletions: [batch.recordIDsToDelete[0]: .failure(CKError(code))])
            )
        }
        bench.tell(.start)
        bench.tell(.addRecordChanges([.deleteRecord(Self.recordID)], byDelegate: false))
        #expect(bench.call(.send(.init()))?.code == .partialFailure)
        #expect(bench.state.pendingRecordZoneChanges.isEmpty == !Self.passing.contains(code))
    }

    @Test("A request that fails as a whole fails each of its items", arguments: codes)
    func outcomeOfRequest(_ code: CKError.Code) {
        var bench = bench { _ in .failure(CKError(code)) }
        bench.tell(.start)
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        #expect(bench.call(.send(.init())) != nil)
        #expect(bench.state.pendingRecordZoneChanges.isEmpty == !Self.passing.contains(code))
        #expect(
            bench.story == [
                "accountChange", "willSendChanges", "sentRecordZoneChanges", "didSendChanges",
            ]
        )
    }

    @Test("Zones go before records, and what is added meanwhile goes too")
    func order() {
        var bench = bench(Self.saved)
        var isFirst = true
        bench.react = { event in
            guard case .sentRecordZoneChanges = event, isFirst else { return [] }
            isFirst = false
            let zone = CKRecordZone(zoneName: "Late")
            return [.addDatabaseChanges([.saveZone(zone)])]
        }
        bench.tell(.start)
        bench.tell(.addDatabaseChanges([.saveZone(CKRecordZone(zoneName: "Notes"))]))
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        #expect(bench.call(.send(.init())) == nil)
        #expect(
            bench.story == [
                "accountChange", "willSendChanges", "sentDatabaseChanges", "sentRecordZoneChanges",
                "sentDatabaseChanges", "didSendChanges",
            ]
        )
    }

    @Test("What the delegate adds again after a failure waits for the next call")
    func readding() {
        var isKnown = false
        var bench = bench { batch in
            isKnown
                ? Self.saved(batch)
                : .modifiedRecords(
                    .init(saves: [batch.recordsToSave[0].recordID: .failure(CKError(.zoneNotFound))]
                    )
                )
        }
        bench.react = { event in
            guard case .sentRecordZoneChanges(let event) = event, !event.failedRecordSaves.isEmpty
            else { return [] }
            isKnown = true
            return [.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: true)]
        }
        bench.tell(.start)
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        #expect(bench.call(.send(.init()))?.code == .partialFailure)
        #expect(bench.state.pendingRecordZoneChanges.count == 1)
        #expect(bench.call(.send(.init())) == nil)
        #expect(bench.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("An edit that comes while its record is sent stays pending")
    func newerEdit() {
        var bench = bench(Self.saved)
        bench.response = { [response = bench.response] request in
            if case .modifyRecords = request { return nil }
            return response(request)
        }
        bench.tell(.start)
        let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(Self.recordID)
        bench.tell(.addRecordChanges([change], byDelegate: false))
        bench.tell(.call(SyncEngineCall(id: 1, kind: .send(.init()))))
        bench.tell(.addRecordChanges([change], byDelegate: false))
        let batch = CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: [CKRecord(recordType: "Row", recordID: Self.recordID)]
        )
        bench.tell(.response(Self.saved(batch)))
        #expect(bench.state.pendingRecordZoneChanges.elements == [change])
    }

    @Test("A batch that is too large or out of scope is refused before it is sent")
    func refusals() {
        var bench = bench(Self.saved)
        bench.tell(.start)
        bench.batch = { _ in
            .init(recordsToSave: (0..<251).map { _ in CKRecord(recordType: "Row") })
        }
        #expect(bench.call(.send(.init()))?.code == .limitExceeded)
        bench.batch = { _ in .init(recordIDsToDelete: [Self.recordID]) }
        let scope = CKSyncEngine.SendChangesOptions.Scope.allExcluding([Self.recordID.zoneID])
        #expect(bench.call(.send(.init(scope: scope)))?.code == .invalidArguments)
        #expect(!bench.requests.contains { if case .modifyRecords = $0 { true } else { false } })
    }

    @Test("The state is handed over after the event that it covers, and only when it changed")
    func states() {
        var bench = bench(Self.saved)
        bench.tell(.start)
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        _ = bench.call(.send(.init()))
        let names = bench.events.map { "\($0)".split(separator: " ").first.map(String.init) }
        #expect(
            names == [
                "accountChange", "stateUpdate", "stateUpdate", "willSendChanges",
                "sentRecordZoneChanges", "stateUpdate", "didSendChanges",
            ]
        )
    }

    @Test(
        "An idle engine asks for no wake-up, and none of its own accord without automatic syncing"
    )
    func idleness() {
        var bench = bench(isAutomatic: true, Self.saved)
        bench.tell(.start)
        while bench.sleep() {}
        let requests = bench.requests.count
        #expect(bench.wake == nil)
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        #expect(bench.wake == bench.now + .milliseconds(100))
        while bench.sleep() {}
        #expect(bench.requests.count == requests + 1)
        #expect(bench.wake == nil)

        var manual = self.bench(Self.saved)
        manual.tell(.start)
        manual.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        #expect(manual.wake == nil)
        #expect(manual.requests.count == 1)
    }

    @Test("Waits double from one failure to the next, and last as long as the service asks")
    func waits() {
        var error = CKError(.networkFailure)
        var bench = bench(isAutomatic: true) { _ in .failure(error) }
        bench.tell(.start)
        while bench.sleep() {}
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        _ = bench.sleep()
        var waits: [Duration] = []
        for _ in 0..<4 {
            waits.append((bench.wake ?? .zero) - bench.now)
            _ = bench.sleep()
        }
        #expect(waits == [.milliseconds(750), .milliseconds(1_500), .seconds(3), .seconds(6)])
        // An hour at most, whatever the server specifies.
        for (asked, wait) in [(100.0, 100), (86_400, 3_600), (.infinity, 3_600)] {
            error = CKError(.serviceUnavailable, userInfo: [CKErrorRetryAfterKey: asked])
            _ = bench.sleep()
            #expect((bench.wake ?? .zero) - bench.now == .seconds(wait))
        }
    }
}
