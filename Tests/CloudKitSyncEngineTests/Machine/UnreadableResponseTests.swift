import CloudKit
import CloudKitWebClient
import Testing

/// Responses that are not from the service, or not readable by the client.
@Suite("Responses that cannot be read")
struct UnreadableResponseTests {
    private static let recordID = CKRecord.ID(
        recordName: "a",
        zoneID: CKRecordZone.ID(zoneName: "Notes")
    )

    /// The kinds of an engine's requests.
    enum Kind: String, CaseIterable, Sendable {
        case identify, subscribe, databaseChanges, zoneChanges, modifyZones, modifyRecords

        init(_ request: SyncRequest) {
            self =
                switch request {
                case .identifyUser: .identify
                case .subscribe: .subscribe
                case .databaseChanges: .databaseChanges
                case .zoneChanges: .zoneChanges
                case .modifyZones: .modifyZones
                case .modifyRecords: .modifyRecords
                }
        }
    }

    private static func response(_ request: SyncRequest) -> SyncResponse {
        switch request {
        case .identifyUser: .user("_ada")
        case .subscribe: .subscribed("s")
        case .databaseChanges(let token):
            .databaseChanges(
                .init(
                    modifications: token == nil ? [recordID.zoneID] : [],
                    deletions: [],
                    token: CKServerChangeToken(text: "d"),
                    moreComing: false
                )
            )
        case .zoneChanges(let zoneID, _):
            .zoneChanges(
                .init(
                    modifications: [
                        CKRecord(
                            recordType: "Row",
                            recordID: .init(recordName: "b", zoneID: zoneID)
                        )
                    ],
                    deletions: [],
                    token: CKServerChangeToken(text: "z"),
                    moreComing: false
                )
            )
        case .modifyZones(let saving, _):
            .modifiedZones(
                .init(
                    saves: Dictionary(
                        uniqueKeysWithValues: saving.map { ($0.zoneID, .success($0)) }
                    )
                )
            )
        case .modifyRecords(let batch):
            .modifiedRecords(
                .init(
                    saves: Dictionary(
                        uniqueKeysWithValues: batch.recordsToSave.map {
                            ($0.recordID, .success($0))
                        }
                    )
                )
            )
        }
    }

    @Test(
        "Whichever request it is to, nothing is dropped, and it is repeated after growing waits",
        arguments: Kind.allCases,
        [200, 204, 302, 404, 429, 502]
    )
    func retryPolicy(_ kind: Kind, _ status: Int) {
        let foreign = CKError.make(.unexpectedResponse(status: status, message: "<html>"))
        var failuresLeft = 3
        var bench = MachineBench(isAutomatic: true) { request in
            guard Kind(request) == kind, failuresLeft > 0 else { return Self.response(request) }
            failuresLeft -= 1
            return .failure(foreign)
        }
        bench.tell(.start)
        bench.tell(
            .addDatabaseChanges([.saveZone(CKRecordZone(zoneID: Self.recordID.zoneID))])
        )
        bench.tell(.addRecordChanges([.saveRecord(Self.recordID)], byDelegate: false))
        var waits: [Duration] = []
        while let wake = bench.wake {
            if failuresLeft < 3, failuresLeft > 0 || waits.count < 3 {
                waits.append(wake - bench.now)
                #expect(bench.state.pendingRecordZoneChanges.elements.count == 1)
            }
            _ = bench.sleep()
        }
        #expect(failuresLeft == 0)
        #expect(waits.prefix(3) == [.milliseconds(750), .milliseconds(1_500), .seconds(3)])
        #expect(bench.state.pendingRecordZoneChanges.isEmpty)
        #expect(bench.state.pendingDatabaseChanges.isEmpty)
        #expect(bench.state.unfetchedZones.isEmpty)
        let fetched = bench.events.filter {
            if case .fetchedRecordZoneChanges = $0 { true } else { false }
        }
        #expect(fetched.count == 1)
    }
}
