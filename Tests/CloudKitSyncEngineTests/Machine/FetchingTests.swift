import CloudKit
import Testing

@Suite("Fetching")
struct FetchingTests {
    private static let notes = CKRecordZone.ID(zoneName: "Notes")
    private static let tasks = CKRecordZone.ID(zoneName: "Tasks")

    private static func token(_ text: String) -> CKServerChangeToken {
        CKServerChangeToken(text: text)
    }

    private static func zones(
        _ zones: [CKRecordZone.ID],
        deleted: [CKRecordZone.ID] = [],
        _ text: String = "d",
        more: Bool = false
    ) -> SyncResponse {
        .databaseChanges(
            .init(
                modifications: zones,
                deletions: deleted.map { .reported($0, .purged) },
                token: token(text),
                moreComing: more
            )
        )
    }

    private static func records(
        _ names: [String],
        in zoneID: CKRecordZone.ID,
        _ text: String = "z",
        more: Bool = false,
        failures: [CKRecord.ID: CKError] = [:]
    ) -> SyncResponse {
        .zoneChanges(
            .init(
                modifications: names.map {
                    CKRecord(recordType: "Row", recordID: .init(recordName: $0, zoneID: zoneID))
                },
                deletions: [],
                failures: failures,
                token: token(text),
                moreComing: more
            )
        )
    }

    private func bench(
        _ state: SyncEngineState = SyncEngineState(),
        isAutomatic: Bool = false,
        _ response: @escaping (SyncRequest) -> SyncResponse
    ) -> MachineBench {
        var bench = MachineBench(state, isAutomatic: isAutomatic) { request in
            switch request {
            case .identifyUser: .user("_ada")
            case .subscribe: .subscribed("s")
            default: response(request)
            }
        }
        bench.tell(.start)
        return bench
    }

    @Test("Zones come before their records, each zone begins and ends once")
    func order() {
        var bench = bench { request in
            switch request {
            case .zoneChanges(let zoneID, nil):
                Self.records(["1"], in: zoneID, "first", more: true)
            case .zoneChanges(let zoneID, _): Self.records(["2"], in: zoneID, "second")
            default: Self.zones([Self.notes, Self.tasks])
            }
        }
        #expect(bench.call(.fetch(.init())) == nil)
        let zone = [
            "willFetchRecordZoneChanges", "fetchedRecordZoneChanges", "fetchedRecordZoneChanges",
            "didFetchRecordZoneChanges",
        ]
        #expect(
            bench.story == ["accountChange", "willFetchChanges", "fetchedDatabaseChanges"] + zone
                + zone + ["didFetchChanges"]
        )
        #expect(bench.state.zoneTokens[Self.notes] == Self.token("second"))
        #expect(bench.state.unfetchedZones.isEmpty)
    }

    @Test("The options of each request decide which zone comes next")
    func priority() {
        var bench = bench { request in
            switch request {
            case .zoneChanges(let zoneID, _): Self.records([], in: zoneID)
            default: Self.zones([Self.notes, Self.tasks])
            }
        }
        bench.options = { context in
            var options = context.options
            options.prioritizedZoneIDs = [Self.tasks]
            return options
        }
        _ = bench.call(.fetch(.init()))
        let order = bench.requests.compactMap { request in
            if case .zoneChanges(let zoneID, _) = request { zoneID } else { nil }
        }
        #expect(order == [Self.tasks, Self.notes])
    }

    @Test("A zone out of scope is remembered as not fetched")
    func scope() {
        var bench = bench { request in
            switch request {
            case .zoneChanges(let zoneID, _): Self.records(["1"], in: zoneID)
            case .databaseChanges(nil): Self.zones([Self.notes, Self.tasks])
            default: Self.zones([])
            }
        }
        _ = bench.call(.fetch(.init(scope: .zoneIDs([Self.tasks]))))
        #expect(bench.state.unfetchedZones == [Self.notes])
        _ = bench.call(.fetch(.init(scope: .allExcluding([Self.tasks]))))
        #expect(bench.state.unfetchedZones.isEmpty)
    }

    @Test(
        "A token that expired or is unknown is given up, and all is read again",
        arguments: [CKError.Code.changeTokenExpired, .invalidArguments]
    )
    func expiry(_ code: CKError.Code) {
        var state = SyncEngineState()
        state.databaseToken = Self.token("old")
        state.zoneTokens = [Self.notes: Self.token("old"), Self.tasks: Self.token("old")]
        var bench = bench(state) { request in
            switch request {
            case .databaseChanges(.some(let token)) where token.text == "old",
                .zoneChanges(_, .some(let token)) where token.text == "old":
                .failure(CKError(code))
            case .zoneChanges(let zoneID, _): Self.records(["1"], in: zoneID)
            default: Self.zones([Self.notes])
            }
        }
        #expect(bench.call(.fetch(.init())) == nil)
        #expect(bench.state.zoneTokens == [Self.notes: Self.token("z")])
        // The other zone was deleted unnoticed.
        var deletions: [CKRecordZone.ID] = []
        for case .fetchedDatabaseChanges(let event) in bench.events {
            deletions += event.deletions.map(\.zoneID)
        }
        #expect(deletions == [Self.tasks])
    }

    @Test("A token that keeps failing ends the fetch rather than repeating it forever")
    func brokenTokens() {
        var state = SyncEngineState()
        state.databaseToken = Self.token("old")
        var bench = bench(state) { _ in .failure(CKError(.changeTokenExpired)) }
        #expect(bench.call(.fetch(.init()))?.code == .changeTokenExpired)
        #expect(bench.story.last == "didFetchChanges")
    }

    @Test("A token is not reached before the delegate has the records")
    func tokens() {
        var tokens: [CKServerChangeToken?] = []
        var bench = bench { request in
            switch request {
            case .zoneChanges(let zoneID, _): Self.records(["1"], in: zoneID)
            default: Self.zones([Self.notes])
            }
        }
        bench.react = { event in
            if case .stateUpdate(let event) = event {
                tokens.append(try? event.stateSerialization.contents.get().zoneTokens[Self.notes])
            }
            return []
        }
        _ = bench.call(.fetch(.init()))
        let names = bench.events.map { "\($0)".split(separator: " ")[0] }
        let fetched = names.firstIndex(of: "fetchedRecordZoneChanges") ?? 0
        let states = names.indices.filter { names[$0] == "stateUpdate" }
        #expect(!tokens.isEmpty)
        #expect(
            zip(states.suffix(tokens.count), tokens).allSatisfy { ($0 > fetched) == ($1 != nil) }
        )
    }

    @Test("A zone that fails does not keep the others back; a dead network does")
    func failures() {
        var code = CKError.Code.zoneBusy
        var bench = bench { request in
            switch request {
            case .zoneChanges(Self.notes, _): .failure(CKError(code))
            case .zoneChanges(let zoneID, _): Self.records(["1"], in: zoneID)
            default: Self.zones([Self.notes, Self.tasks])
            }
        }
        #expect(bench.call(.fetch(.init()))?.code == .partialFailure)
        #expect(bench.state.unfetchedZones == [Self.notes])
        code = .networkFailure
        #expect(bench.call(.fetch(.init()))?.code == .networkFailure)
        #expect(bench.state.unfetchedZones == [Self.notes, Self.tasks])
    }

    @Test("A record that cannot be read is reported, and the rest of its page delivered")
    func unreadableRecord() {
        let broken = CKRecord.ID(recordName: "broken", zoneID: Self.notes)
        var bench = bench { request in
            switch request {
            case .zoneChanges(let zoneID, _):
                Self.records(["1"], in: zoneID, failures: [broken: CKError(.internalError)])
            default: Self.zones([Self.notes])
            }
        }
        let error = bench.call(.fetch(.init()))
        #expect((error?.partialErrorsByItemID?[broken] as? CKError)?.code == .internalError)
        #expect(bench.story.contains("fetchedRecordZoneChanges"))
        #expect(bench.state.unfetchedZones.isEmpty)
    }

    @Test("A cancelled fetch says that it has ended")
    func cancellation() {
        var bench = bench { _ in Self.zones([]) }
        bench.response = { _ in nil }
        bench.tell(.call(SyncEngineCall(id: 7, kind: .fetch(.init()))))
        bench.tell(.cancelAll(8))
        #expect(bench.finished[7]??.code == .operationCancelled)
        #expect(bench.finished[8] == .some(nil))
        #expect(bench.story.suffix(2) == ["willFetchChanges", "didFetchChanges"])
    }

    @Test("A push during a fetch has the engine fetch again")
    func push() {
        var bench = bench(isAutomatic: true) { _ in Self.zones([]) }
        while bench.sleep() {}
        #expect(bench.isListening)
        let begun = bench.story.filter { $0 == "willFetchChanges" }.count
        var pushes = 1
        bench.react = { event in
            guard case .willFetchChanges = event, pushes > 0 else { return [] }
            pushes -= 1
            return [.notice(.databaseChanged)]
        }
        bench.tell(.notice(.databaseChanged))
        #expect(bench.story.filter { $0 == "willFetchChanges" }.count == begun + 2)
    }
}
