import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("The counts of faults")
struct FaultCountTests {
    /// The requests that the test below makes.
    enum Sample: CaseIterable {
        case list, anonymousQuery, create, update, lookUp, assetBytes, waitWithUnknownToken
    }

    @Test(
        "A fault is used up only by a request that it can affect",
        arguments: [
            (Fault.delay(milliseconds: 0), Sample.allCases),
            (.error(.zoneBusy), Sample.allCases),
            (.nativeError(.zoneBusy), Sample.allCases),
            (.lostResponse, Sample.allCases),
            (.resetConnection, Sample.allCases),
            (.cutResponse(bytes: 1), Sample.allCases),
            (.slowResponse(bytesPerSecond: 1), Sample.allCases),
            (.itemError(.conflict), [.create, .update, .lookUp]),
            (.nativeItemError(.zoneBusy, item: 0), [.create, .update, .lookUp]),
            (.itemError(.conflict, item: 1), []),
            (.expiredWebToken, [.list, .create, .update, .lookUp]),
            (.expiredChangeTokens, [.list, .anonymousQuery, .create, .update, .lookUp]),
            (.lostNotification, []),
            (.staleTags, [.update]),
        ] as [(Fault, [Sample])]
    )
    func reach(fault: Fault, samples: [Sample]) async throws {
        let (cloud, user) = try await FaultPlanTests.cloud()
        let token: JSON = ["recordName": "a", "recordType": "Note", "fieldName": "photo"]
        let place = try await cloud.call(
            "assets/upload",
            as: user,
            ["zoneID": FixtureCloud.zone("Notes"), "tokens": [token]]
        )
        let wait = ConformanceRequest(method: "GET", path: "/aps", query: "tok=unknown")
        for sample in Sample.allCases {
            // The fault may have ended the session before.
            let ada = try await cloud.again(user)
            cloud.service.setFaults(nil)
            let tag = try await cloud.lookUp(["a"], as: ada).body.records[0].recordChangeTag
            cloud.service.setFaults(FaultPlan(rules: [FaultRule(fault, times: 1)]))
            switch sample {
            case .list: _ = try await cloud.call("zones/list", as: ada)
            case .anonymousQuery:
                let query: JSON = ["query": ["recordType": "Note"]]
                _ = try await cloud.call("records/query", .public, query)
            case .create: _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
            case .update:
                let note = FixtureCloud.note("update", "a", tag: tag)
                _ = try await cloud.modify(as: ada, [note])
            case .lookUp: _ = try await cloud.lookUp(["a"], as: ada)
            case .assetBytes: _ = try await cloud.send(Data([1]), to: place.body.tokens[0].url)
            case .waitWithUnknownToken: _ = try await cloud.send(wait)
            }
            let count = samples.contains(sample) ? 1 : 0
            let expected = [FaultCount(fitting: count, taken: count)]
            #expect(cloud.service.faultCounts == expected, "\(sample)")
        }
    }

    @Test("Of the operations of a request, only those that compare a tag find theirs stale")
    func staleTags() async throws {
        let (cloud, user) = try await FaultPlanTests.cloud()
        let made = try await cloud.modify(
            as: user,
            ["a", "b", "c"].map { FixtureCloud.note("create", $0) }
        )
        cloud.service.setFaults(FaultPlan(rules: [FaultRule(.staleTags, times: 1)]))
        // Neither a save that overwrites nor a tag that nothing compares uses it up.
        let forced = FixtureCloud.note("forceUpdate", "a", tag: made.records[0].recordChangeTag)
        let first = try await cloud.modify(as: user, [forced])
        #expect(first.records[0].serverErrorCode == nil)
        let update = FixtureCloud.note("update", "b", tag: made.records[1].recordChangeTag)
        let other = FixtureCloud.note("forceUpdate", "c")
        let second = try await cloud.modify(as: user, atomic: false, [other, update])
        #expect(second.records.map(\.serverErrorCode) == [nil, "CONFLICT"])
        #expect(cloud.service.faultCounts == [FaultCount(fitting: 1, taken: 1)])
    }

    @Test("Tags become stale only for an operation that would succeed, and for nothing else")
    func failingOperations() async throws {
        let (cloud, ada) = try await FaultPlanTests.cloud()
        let bob = try await cloud.addUser("Bob")
        let fields: JSON = ["text": ["value": "x"]]
        let made = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a", fields)])
        let tag = made.records[0].recordChangeTag
        let notice = try await cloud.modify(
            "_defaultZone",
            as: ada,
            database: .public,
            [FixtureCloud.note("create", "p", type: "Notice")]
        )
        let publicTag = notice.records[0].recordChangeTag
        func update(_ name: String, _ tag: JSON, _ fields: JSON = [:]) -> JSON {
            FixtureCloud.note("update", name, fields, tag: tag)
        }
        let many = (0..<401).map { update("n\($0)", "1") }
        let shown = FixtureCloud.note("update", "p", tag: publicTag, type: "Notice")
        let failing: [(String, () async throws -> FixtureCloud.Response)] = [
            ("no record", { try await cloud.modify(as: ada, [update("none", "1")]) }),
            ("no zone", { try await cloud.modify("None", as: ada, [update("a", tag)]) }),
            ("a stale tag", { try await cloud.modify(as: ada, [update("a", "zz")]) }),
            ("no tag", { try await cloud.modify(as: ada, [update("a", .null)]) }),
            (
                "a wrong type",
                { try await cloud.modify(as: ada, [update("a", tag, ["text": ["value": 5]])]) }
            ),
            ("too many", { try await cloud.modify(as: ada, many) }),
            (
                "another operation of an atomic request",
                { try await cloud.modify(as: ada, [update("a", tag), update("none", "1")]) }
            ),
            (
                "another's record",
                { try await cloud.modify("_defaultZone", as: bob, database: .public, [shown]) }
            ),
        ]
        cloud.service.setFaults(FaultPlan(rules: [FaultRule(.staleTags, times: 1)]))
        for (name, body) in failing {
            let response = try await body()
            let failed =
                response.status != 200
                || response.records.contains { $0.serverErrorCode != .null }
            #expect(failed, "\(name)")
            #expect(cloud.service.faultCounts == [FaultCount(fitting: 0, taken: 0)], "\(name)")
            let now = try await cloud.lookUp(["a"], as: ada).body.records[0].recordChangeTag
            #expect(now == tag, "\(name)")
        }
        let stale = try await cloud.modify(as: ada, [update("a", tag)])
        #expect(stale.records[0].serverErrorCode == "CONFLICT")
        #expect(cloud.service.faultCounts == [FaultCount(fitting: 1, taken: 1)])
    }

    @Test("A fault that the client cannot see in the response is not used up")
    func unseen() async throws {
        let (cloud, ada) = try await FaultPlanTests.cloud()
        func count(
            _ fault: Fault,
            call: Int? = nil,
            _ body: () async throws -> FixtureCloud.Response
        ) async throws -> FaultCount? {
            cloud.service.setFaults(FaultPlan(rules: [FaultRule(fault, call: call, times: 1)]))
            _ = try await body()
            return cloud.service.faultCounts.first
        }
        let none = FaultCount(fitting: 0, taken: 0)
        let list = { try await cloud.call("zones/list", as: ada) }
        #expect(try await count(.cutResponse(bytes: 1_000_000), list) == none)
        #expect(try await count(.cutResponse(bytes: 1_000_000), call: 2, list) == none)
        let cut = try await count(.cutResponse(bytes: 1), list)
        #expect(cut == FaultCount(fitting: 1, taken: 1))
        let later = try await count(.cutResponse(bytes: 1), call: 2, list)
        #expect(later == FaultCount(fitting: 1, taken: 0))

        let note = FixtureCloud.note("create", "b")
        for fault in [Fault.itemError(.conflict), .nativeItemError(.zoneBusy, item: 0)] {
            let saved = try await count(fault) { try await cloud.modify("None", as: ada, [note]) }
            #expect(saved == none)
            let found = try await count(fault) {
                try await cloud.lookUp(["b"], in: "None", as: ada)
            }
            #expect(found == none)
            let seen = try await count(fault) { try await cloud.modify(as: ada, [note]) }
            #expect(seen == FaultCount(fitting: 1, taken: 1))
        }
        // A refusal comes before what other faults would do.
        cloud.service.setFaults(
            FaultPlan(rules: [
                FaultRule(.error(.zoneBusy), times: 1), FaultRule(.itemError(.conflict), times: 1),
            ])
        )
        _ = try await cloud.modify(as: ada, [note])
        #expect(cloud.service.faultCounts.map(\.taken) == [1, 0])
    }

    @Test(
        "Of two faults of which one hides the other, only the one that the client sees is used up",
        arguments: [
            (.error(.zoneBusy), .error(.throttled), [1, 0]),
            (.error(.zoneBusy), .nativeError(.zoneBusy), [1, 0]),
            (.error(.zoneBusy), .throttle(.strict), [1, 0]),
            (.error(.zoneBusy), .expiredWebToken, [1, 0]),
            (.error(.zoneBusy), .resetConnection, [0, 1]),
            (.cutResponse(bytes: 1), .resetConnection, [0, 1]),
            (.lostResponse, .resetConnection, [0, 1]),
            (.itemError(.conflict), .nativeItemError(.zoneBusy), [1, 0]),
            (.itemError(.conflict), .nativeItemError(.zoneBusy, item: 1), [1, 0]),
            (.itemError(.conflict, item: 0), .itemError(.zoneBusy), [1, 1]),
            (.lostResponse, .lostResponse, [1, 0]),
            (.lostResponse, .cutResponse(bytes: 1), [1, 0]),
            (.slowResponse(bytesPerSecond: 1), .lostResponse, [0, 1]),
            (.slowResponse(bytesPerSecond: 9), .slowResponse(bytesPerSecond: 1), [0, 1]),
            (.cutResponse(bytes: 9), .cutResponse(bytes: 1), [0, 1]),
            (.expiredChangeTokens, .expiredChangeTokens, [1, 0]),
            (.error(.zoneBusy), .lostResponse, [1, 1]),
            (.lostResponse, .itemError(.conflict), [1, 1]),
            (.delay(milliseconds: 0), .resetConnection, [1, 1]),
            (.cutResponse(bytes: 9), .slowResponse(bytesPerSecond: 1), [1, 1]),
        ] as [(Fault, Fault, [Int])]
    )
    func hidden(first: Fault, second: Fault, taken: [Int]) async throws {
        let (cloud, ada) = try await FaultPlanTests.cloud()
        let rules = [first, second].map { FaultRule($0, call: 1, times: 1) }
        cloud.service.setFaults(FaultPlan(rules: rules))
        let notes = ["b", "c"].map { FixtureCloud.note("forceUpdate", $0) }
        _ = try await cloud.modify(as: ada, notes)
        #expect(cloud.service.faultCounts == taken.map { FaultCount(fitting: $0, taken: $0) })
        // The hidden one goes on to wait for the first request that it matches.
        guard taken != [1, 1] else { return }
        if first == .throttle(.strict) || second == .throttle(.strict) { return }
        _ = try await cloud.modify(as: cloud.again(ada), notes)
        #expect(cloud.service.faultCounts.map(\.taken) == [1, 1])
    }

    @Test("A lost response of a lookup hides what it would say of single records")
    func hiddenLookup() async throws {
        let (cloud, ada) = try await FaultPlanTests.cloud()
        cloud.service.setFaults(
            FaultPlan(rules: [FaultRule(.itemError(.conflict)), FaultRule(.lostResponse)])
        )
        _ = try await cloud.lookUp(["a"], as: ada)
        #expect(cloud.service.faultCounts.map(\.taken) == [0, 1])
    }
}
