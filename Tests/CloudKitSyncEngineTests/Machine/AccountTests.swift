import CloudKit
import Testing

@Suite("Accounts")
struct AccountTests {
    typealias Change = CKSyncEngine.Event.AccountChange.ChangeType

    private static let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(
        CKRecord.ID(recordName: "a")
    )

    private static func user(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name) }

    /// The account in a state, the user found, and the reported change.
    static let transitions: [(SyncEngineState.Account, String?, Change?)] = [
        (.unknown, nil, nil),
        (.unknown, "_a", .signIn(currentUser: user("_a"))),
        (.signedOut, nil, nil),
        (.signedOut, "_a", .signIn(currentUser: user("_a"))),
        (.user("_a"), "_a", nil),
        (.user("_a"), nil, .signOut(previousUser: user("_a"))),
        (.user("_a"), "_b", .switchAccounts(previousUser: user("_a"), currentUser: user("_b"))),
    ]

    @Test(
        "A change of account is reported once, and forgets what belongs to another",
        arguments: transitions
    )
    func transition(_ before: SyncEngineState.Account, _ user: String?, _ change: Change?) {
        var state = SyncEngineState()
        state.account = before
        state.databaseToken = CKServerChangeToken(text: "t")
        state.pendingRecordZoneChanges.add(Self.change)
        var bench = MachineBench(state) { _ in .user(user) }
        bench.tell(.start)
        let changes = bench.events.compactMap { event in
            if case .accountChange(let event) = event { event.changeType } else { nil }
        }
        #expect(changes == [change].compactMap { $0 })
        #expect(bench.state.account.user == user)
        // The first user receives the changes that were made before any user was known.
        let isKept = change == nil || before == .unknown
        #expect(bench.state.pendingRecordZoneChanges.isEmpty == !isKept)
        #expect((bench.state.databaseToken == nil) == !isKept)
    }

    @Test("The account is learnt before anything is sent")
    func first() {
        var bench = MachineBench { request in
            if case .modifyRecords(let batch) = request {
                let saved = batch.recordsToSave.map {
                    ($0.recordID, Result<_, CKError>.success($0))
                }
                return .modifiedRecords(.init(saves: Dictionary(uniqueKeysWithValues: saved)))
            }
            return .user("_a")
        }
        bench.tell(.addRecordChanges([Self.change], byDelegate: false))
        bench.tell(.start)
        #expect(bench.call(.send(.init())) == nil)
        #expect(bench.story.first == "accountChange")
        #expect(bench.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("Without an account calls fail at once, and the engine wakes when somebody signs in")
    func dormant() {
        var user: String?
        var bench = MachineBench(isAutomatic: true) { request in
            if case .identifyUser = request { .user(user) } else { .failure(CKError(.zoneBusy)) }
        }
        bench.tell(.start)
        #expect(bench.wake == nil)
        #expect(bench.call(.fetch(.init()))?.code == .notAuthenticated)
        user = "_a"
        bench.tell(.notice(.accountChanged))
        #expect(bench.story.first == "accountChange")
    }

    @Test("What comes in after a hint that the account changed reaches nobody")
    func void() {
        var bench = MachineBench { request in
            if case .identifyUser = request { .user("_a") } else { nil }
        }
        bench.tell(.start)
        bench.tell(.call(SyncEngineCall(id: 1, kind: .fetch(.init()))))
        bench.response = { _ in .user("_b") }
        // The request is on its way, and its response comes although it is cancelled.
        bench.answerToCancel = nil
        bench.tell(.notice(.accountChanged))
        bench.tell(
            .response(
                .databaseChanges(
                    .init(
                        modifications: [CKRecordZone.ID(zoneName: "Notes")],
                        deletions: [],
                        token: CKServerChangeToken(text: "a"),
                        moreComing: false
                    )
                )
            )
        )
        #expect(!bench.story.contains("fetchedDatabaseChanges"))
        #expect(bench.state.databaseToken == nil)
        #expect(bench.state.account == .user("_b"))
        #expect(bench.finished[1]??.code == .operationCancelled)
    }
}
