import CloudKit
import Testing

@Suite("Batches")
struct BatchTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let recordID = CKRecord.ID(recordName: "a", zoneID: zoneID)
    private static let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(recordID)

    private func bench(
        _ response: @escaping (CKSyncEngine.RecordZoneChangeBatch) -> SyncResponse
    ) -> MachineBench {
        var bench = MachineBench { request in
            switch request {
            case .identifyUser: .user("_ada")
            case .modifyRecords(let batch): response(batch)
            default: .failure(CKError(.zoneNotFound))
            }
        }
        bench.tell(.start)
        return bench
    }

    private static func saved(_ batch: CKSyncEngine.RecordZoneChangeBatch) -> SyncResponse {
        .modifiedRecords(
            .init(
                saves: Dictionary(
                    uniqueKeysWithValues: batch.recordsToSave.map { ($0.recordID, .success($0)) }
                )
            )
        )
    }

    private func batches(_ bench: MachineBench) -> [CKSyncEngine.RecordZoneChangeBatch] {
        bench.requests.compactMap {
            if case .modifyRecords(let batch) = $0 { batch } else { nil }
        }
    }

    @Test("An atomic zone never takes more than one request can hold; the rest is the next batch")
    func atomicLimit() {
        var bench = bench(Self.saved)
        let recordIDs = (0..<240).map { CKRecord.ID(recordName: "\($0)", zoneID: Self.zoneID) }
        bench.batch = { state in
            MachineBench.allPending(state).map { all in
                var batch = all
                batch.atomicByZone = true
                return batch
            }
        }
        bench.tell(
            .addRecordChanges(
                recordIDs.map { .saveRecord($0) },
                byDelegate: false
            )
        )
        #expect(bench.call(.send(.init())) == nil)
        #expect(batches(bench).map(\.recordsToSave.count) == [200, 40])
        #expect(bench.state.pendingRecordZoneChanges.isEmpty)

        var whole = CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: recordIDs.map { CKRecord(recordType: "Row", recordID: $0) }
        )
        #expect(whole.withinOneRequest(200).recordsToSave.count == 240)
        whole.atomicByZone = true
        whole.recordsToSave += (0..<10).map { _ in CKRecord(recordType: "Row") }
        #expect(whole.withinOneRequest(200).recordsToSave.count == 210)
    }

    @Test("A failure in an atomic batch leaves none of it half done")
    func atomicFailure() {
        var bench = bench { batch in
            .modifiedRecords(
                .init(
                    saves: Dictionary(
                        uniqueKeysWithValues: batch.recordsToSave.map {
                            ($0.recordID, .failure(CKError(.batchRequestFailed)))
                        }
                    )
                )
            )
        }
        bench.batch = { state in
            MachineBench.allPending(state).map { all in
                var batch = all
                batch.atomicByZone = true
                return batch
            }
        }
        let changes = (0..<240).map {
            CKSyncEngine.PendingRecordZoneChange.saveRecord(
                CKRecord.ID(recordName: "\($0)", zoneID: Self.zoneID)
            )
        }
        bench.tell(.addRecordChanges(changes, byDelegate: false))
        #expect(bench.call(.send(.init()))?.code == .partialFailure)
        // The 200 failed, and the 40 were never sent.
        #expect(batches(bench).count == 1)
        #expect(bench.state.pendingRecordZoneChanges.count == 40)
    }

    /// Sends while the delegate signals the engine as it creates its first batch.
    private func pending(after signals: [SyncEngineSignal], isPending: Bool) -> [String] {
        var bench = bench(Self.saved)
        if isPending { bench.tell(.addRecordChanges([Self.change], byDelegate: false)) }
        var isFirst = true
        bench.signalsOfBatch = {
            defer { isFirst = false }
            return isFirst ? signals : []
        }
        var questions = 0
        bench.batch = { state in
            questions += 1
            return questions == 1 || !state.pendingRecordZoneChanges.isEmpty
                ? .init(recordsToSave: [CKRecord(recordType: "Row", recordID: Self.recordID)])
                : nil
        }
        _ = bench.call(.send(.init()))
        return batches(bench).map { "\($0.recordsToSave.count)" }
    }

    @Test("An edit that the delegate adds while it makes a batch is sent with it, or with the next")
    func editsWhileBatching() {
        let edit = SyncEngineSignal.addRecordChanges([Self.change], byDelegate: true)
        let read = SyncEngineSignal.readingRecord(Self.recordID)
        #expect(pending(after: [edit], isPending: false) == ["1"])
        // The delegate may have read the record's data before the edit.
        #expect(pending(after: [edit, read], isPending: true) == ["1", "1"])
        #expect(pending(after: [read, edit], isPending: true) == ["1", "1"])
        #expect(pending(after: [read, edit], isPending: false) == ["1", "1"])
        #expect(pending(after: [edit], isPending: true) == ["1", "1"])
    }

    @Test("A call without a network throws the network's error, and keeps what is pending")
    func noNetwork() {
        for code in [CKError.Code.networkUnavailable, .networkFailure] {
            var bench = bench { _ in .failure(CKError(code)) }
            bench.tell(.addRecordChanges([Self.change], byDelegate: false))
            #expect(bench.call(.send(.init()))?.code == code)
            #expect(bench.state.pendingRecordZoneChanges.count == 1)
        }
    }
}
