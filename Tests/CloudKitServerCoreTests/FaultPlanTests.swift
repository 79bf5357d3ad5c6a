import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Plans of faults")
struct FaultPlanTests {
    private static func plan(_ text: String) throws -> FaultPlan {
        try FaultPlan(json: Data(text.utf8))
    }

    static func cloud() async throws -> (FixtureCloud, FixtureCloud.User) {
        let cloud = try await FixtureCloud()
        let user = try await cloud.addUser("Ada Lovelace")
        try await cloud.addZone("Notes", as: user)
        return (cloud, user)
    }

    @Test("Every fault is read from JSON as it was written")
    func coding() throws {
        let rules = [
            FaultRule(.error(.throttled, reason: "no", retryAfter: 2), operation: "records/modify"),
            FaultRule(.itemError(.conflict, item: 3), recordType: "Note", zone: "Notes"),
            FaultRule(.nativeError(.userDeletedZone, reason: "no", retryAfter: 2)),
            FaultRule(.nativeItemError(.quotaExceeded, item: 3, reason: "no")),
            FaultRule(.lostResponse, user: "Ada"),
            FaultRule(.resetConnection, call: 2),
            FaultRule(.cutResponse(bytes: 7), times: 3),
            FaultRule(.delay(milliseconds: 5), probability: 0.5),
            FaultRule(.slowResponse(bytesPerSecond: 100)),
            FaultRule(.expiredWebToken),
            FaultRule(.expiredChangeTokens),
            FaultRule(.lostNotification),
            FaultRule(.staleTags),
            FaultRule(.throttle(ThrottleProfile(burst: 5, perSecond: 1))),
        ]
        let plan = FaultPlan(seed: 9, rules: rules)
        #expect(try FaultPlan(json: plan.json) == plan)
        let named = try Self.plan(#"{"rules": [{"fault": "throttle", "profile": "apple-2026"}]}"#)
        #expect(named.rules.map(\.fault) == [.throttle(.apple2026)])
        #expect(named.seed == 1)
    }

    @Test(
        "A mistake in a plan is refused with its place",
        arguments: [
            (#"{"rules": [{"fault": "explode"}]}"#, "rules[0].fault: 'explode' is no fault"),
            (
                #"{"rules": [{"fault": "lostResponse"}, {"fault": "delay", "milliseconds": 1, "calls": 2}]}"#,
                "rules[1]: 'calls' means nothing"
            ),
            (#"{"rules": [{"fault": "delay", "milliseconds": -1}]}"#, "-1 is less than 0"),
            (
                #"{"rules": [{"fault": "staleTags", "probability": 2}]}"#,
                "not above 0 and at most 1"
            ),
            (#"{"rules": [{"fault": "throttle", "profile": "x"}]}"#, "apple-2026, strict"),
            (
                #"{"rules": [{"fault": "nativeError", "code": "ZONE_BUSY"}]}"#,
                "rules[0].code: 'ZONE_BUSY' is no code of CKError"
            ),
            (#"{"rules": [{"fault": "cutResponse"}]}"#, "rules[0]"),
            (#"{"rules": [], "rules": []}"#, "The plan has the key 'rules' twice"),
            (#"{"rules": [],}"#, "The plan is not JSON from byte 14 on"),
            (
                #"{"rules": [{"fault": "slowResponse", "bytesPerSecond": 0}]}"#,
                "rules[0].bytesPerSecond: 0 is less than 1"
            ),
            (
                #"{"rules": [{"fault": "throttle", "burst": 0, "perSecond": 1}]}"#,
                "rules[0].burst: 0.0 is less than 1"
            ),
            (
                #"{"rules": [{"fault": "throttle", "burst": 1, "perSecond": -1}]}"#,
                "rules[0].perSecond: -1.0 is less than 0"
            ),
            (
                #"{"rules": [{"fault": "throttle", "profile": "strict", "burst": 1}]}"#,
                "rules[0].burst: it is the profile's"
            ),
            (#"{"rules": 5}"#, "cannot be read: rules"),
            (#"{"rule": []}"#, "which has seed and rules; did you mean 'rules'?"),
            (#"{"faults": [{"fault": "lostResponse"}]}"#, "'faults' means nothing in a plan"),
            ("[]", "cannot be read: Expected"),
            ("{", "The plan is not JSON from byte 2 on"),
            (#"{"rules": [{"fault": "lostResponse", "times": 1.5}]}"#, "1.5 is not a whole number"),
            (
                #"{"rules": [{"fault": "lostResponse", "times": 0}]}"#,
                "rules[0].times: 0 is less than 1"
            ),
            (
                #"{"rules": [{"fault": "lostResponse", "call": 0}]}"#,
                "rules[0].call: 0 is less than 1"
            ),
            (#"{"rules": [{"fault": "delay", "milliseconds": 1e15}]}"#, "is more than"),
            (
                #"{"rules": [{"fault": "itemError", "code": "CONFLICT", "item": -1}]}"#,
                "rules[0].item: -1 is less than 0"
            ),
            (
                #"{"rules": [{"fault": "error", "code": "THROTTLED", "retryAfter": -3}]}"#,
                "rules[0].retryAfter: -3.0 is less than 0"
            ),
        ]
    )
    func mistakes(text: String, message: String) throws {
        #expect {
            _ = try Self.plan(text)
        } throws: { error in
            (error as? FaultPlanError)?.description.contains(message) ?? false
        }
    }

    @Test(
        "A rule that could never take effect is refused",
        arguments: [
            (#""fault": "itemError", "code": "CONFLICT", "operation": "zones/list""#, "operation"),
            (
                #""fault": "nativeItemError", "code": "zoneBusy", "operation": "zones/*""#,
                "operation"
            ),
            (#""fault": "staleTags", "operation": "records/lookup""#, "operation"),
            (#""fault": "lostNotification", "operation": "records/modify""#, "operation"),
            (#""fault": "expiredChangeTokens", "operation": "push/wait""#, "operation"),
            (#""fault": "expiredWebToken", "operation": "assets/send""#, "operation"),
            (
                #""fault": "lostResponse", "operation": "zones/list", "recordType": "T""#,
                "recordType"
            ),
            (
                #""fault": "lostResponse", "operation": "records/lookup", "recordType": "T""#,
                "recordType"
            ),
            (#""fault": "lostResponse", "operation": "assets/fetch", "zone": "Z""#, "zone"),
            (#""fault": "lostResponse", "probability": 0"#, "probability"),
            (#""fault": "lostResponse", "user": """#, "user"),
            (#""fault": "lostResponse", "zone": """#, "zone"),
            (#""fault": "lostResponse", "recordType": "<b>""#, "recordType"),
        ]
    )
    func impossible(rule: String, key: String) throws {
        #expect {
            _ = try Self.plan(#"{"rules": [{\#(rule)}]}"#)
        } throws: { error in
            (error as? FaultPlanError)?.description.hasPrefix("rules[0].\(key): ") ?? false
        }
    }

    @Test("Rules that are added and removed leave the counts and random numbers of the others")
    func changes() async throws {
        let first = FaultRule(.error(.zoneBusy), operation: "zones/list", times: 1)
        let second = FaultRule(.delay(milliseconds: 0), probability: 0.5)
        /// Returns how often each rule took effect, after some requests before and after a change.
        func counts(_ change: (CloudService) -> Void) async throws -> [FaultCount] {
            let (cloud, user) = try await Self.cloud()
            cloud.service.setFaults(FaultPlan(seed: 5, rules: [first, second]))
            for _ in 0..<20 { _ = try await cloud.call("zones/list", as: user) }
            change(cloud.service)
            for _ in 0..<20 { _ = try await cloud.call("zones/list", as: user) }
            return cloud.service.faultCounts
        }
        let same = try await counts { _ in }
        #expect(same.first == FaultCount(fitting: 40, taken: 1))
        let more = try await counts { $0.addFaults(FaultPlan(rules: [first])) }
        #expect(more == same + [FaultCount(fitting: 20, taken: 1)])
        let less = try await counts { #expect($0.removeFault(at: 0)) }
        #expect(less == [same[1]])
        let (cloud, _) = try await Self.cloud()
        #expect(!cloud.service.removeFault(at: 0))
        cloud.service.addFaults(FaultPlan(seed: 9, rules: [second]))
        #expect(cloud.service.faultPlan == FaultPlan(seed: 9, rules: [second]))
        #expect(cloud.service.removeFault(at: 0) && cloud.service.faultPlan == nil)
    }

    /// Returns which of several requests a plan refuses.
    private static func refusals(_ seed: UInt64) async throws -> [Bool] {
        let (cloud, user) = try await cloud()
        cloud.service.setFaults(
            FaultPlan(seed: seed, rules: [FaultRule(.error(.zoneBusy), probability: 0.3)])
        )
        var refusals: [Bool] = []
        for _ in 0..<100 {
            refusals.append(try await cloud.call("zones/list", as: user).status != 200)
        }
        let taken = refusals.count { $0 }
        #expect(cloud.service.faultCounts == [FaultCount(fitting: 100, taken: taken)])
        #expect((15...45).contains(taken))
        return refusals
    }

    @Test("The same seed gives the same faults, another seed others")
    func seeds() async throws {
        let first = try await Self.refusals(7)
        #expect(try await Self.refusals(7) == first)
        #expect(try await Self.refusals(8) != first)
    }

    @Test("A rule fits by operation, type, zone and user, and ends after so many times")
    func selection() async throws {
        let (cloud, ada) = try await Self.cloud()
        let bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: bob)
        try await cloud.addZone("Other", as: ada)
        let note = FixtureCloud.note("forceUpdate", "a")
        let task = FixtureCloud.note("forceUpdate", "b", type: "Task")
        func isRefused(
            _ rule: FaultRule,
            _ body: () async throws -> FixtureCloud.Response
        ) async throws
            -> Bool
        {
            cloud.service.setFaults(FaultPlan(rules: [rule]))
            return try await body().status == 503
        }
        let fault = Fault.error(.zoneBusy)
        func modify(
            _ zone: String,
            _ user: FixtureCloud.User,
            _ operations: [JSON]
        )
            -> () async throws -> FixtureCloud.Response
        {
            { try await cloud.modify(zone, as: user, operations) }
        }
        let rules: [(FaultRule, fits: Bool, () async throws -> FixtureCloud.Response)] = [
            (FaultRule(fault, operation: "records/*"), true, modify("Notes", ada, [note])),
            (FaultRule(fault, operation: "records/query"), false, modify("Notes", ada, [note])),
            (FaultRule(fault, recordType: "Task"), true, modify("Notes", ada, [note, task])),
            (FaultRule(fault, recordType: "Task"), false, modify("Notes", ada, [note])),
            (FaultRule(fault, zone: "Other"), true, modify("Other", ada, [note])),
            (FaultRule(fault, zone: "Other"), false, modify("Notes", ada, [note])),
            (FaultRule(fault, user: "Bob"), true, modify("Notes", bob, [note])),
            (FaultRule(fault, user: bob.name), true, modify("Notes", bob, [note])),
            (FaultRule(fault, user: "Bob"), false, modify("Notes", ada, [note])),
        ]
        for (rule, fits, body) in rules {
            #expect(try await isRefused(rule, body) == fits, "\(rule)")
        }
        cloud.service.setFaults(FaultPlan(rules: [FaultRule(fault, times: 2)]))
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await cloud.call("zones/list", as: ada).status) }
        #expect(statuses == [503, 503, 200])
    }

    @Test(
        "A code of the native API comes with the service's code that says as much of it",
        arguments: NativeErrorCode.allCases
    )
    func native(code: NativeErrorCode) async throws {
        let (cloud, user) = try await Self.cloud()
        cloud.service.setFaults(
            FaultPlan(rules: [FaultRule(.nativeError(code, retryAfter: 3), call: 1)])
        )
        let refused = try await cloud.call("zones/list", as: user)
        #expect(refused.status == code.serverErrorCode.httpStatus)
        #expect(refused.code == code.serverErrorCode.rawValue)
        #expect(refused.body.nativeErrorCode == .int(Int64(code.rawValue)))
        #expect(refused.reason.contains(code.name))
        cloud.service.setFaults(
            FaultPlan(rules: [FaultRule(.nativeItemError(code, item: 1), call: 1)])
        )
        let operations = [FixtureCloud.note("create", "a"), FixtureCloud.note("create", "b")]
        let response = try await cloud.modify(as: user, atomic: false, operations)
        #expect(response.records.map(\.serverErrorCode) == [nil, .string(refused.code ?? "")])
        #expect(response.records.map(\.nativeErrorCode) == [nil, .int(Int64(code.rawValue))])
    }

    @Test("In an atomic request, one failing item undoes the others")
    func atomicItem() async throws {
        let (cloud, user) = try await Self.cloud()
        cloud.service.setFaults(
            FaultPlan(rules: [FaultRule(.itemError(.accessDenied), recordType: "Task", call: 1)])
        )
        let operations = [
            FixtureCloud.note("create", "a"), FixtureCloud.note("create", "b", type: "Task"),
        ]
        let response = try await cloud.modify(as: user, operations)
        #expect(
            response.records.map(\.serverErrorCode) == ["ATOMIC_ERROR", "ACCESS_DENIED"]
        )
        #expect(try await cloud.changes(as: user).records.elements == [])
        let again = try await cloud.modify(as: user, operations)
        #expect(again.records.map(\.serverErrorCode) == [.null, .null])
    }

    @Test("A look-up can miss one record that is there")
    func lookUpItem() async throws {
        let (cloud, user) = try await Self.cloud()
        _ = try await cloud.modify(as: user, ["a", "b"].map { FixtureCloud.note("create", $0) })
        cloud.service.setFaults(
            FaultPlan(rules: [
                FaultRule(.itemError(.notFound, item: 0), operation: "records/lookup")
            ])
        )
        let response = try await cloud.lookUp(["a", "b"], as: user)
        #expect(response.records.map(\.serverErrorCode) == ["NOT_FOUND", .null])
    }

    @Test("A throttle refuses what exceeds the bucket, says for how long, and lets go in time")
    func throttle() async throws {
        let (cloud, ada) = try await Self.cloud()
        let bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: bob)
        let profile = ThrottleProfile(burst: 10, perSecond: 2)
        cloud.service.setFaults(
            FaultPlan(rules: [FaultRule(.throttle(profile), operation: "records/modify")])
        )
        let batch = (0..<8).map { FixtureCloud.note("forceUpdate", "n\($0)") }
        #expect(try await cloud.modify(as: ada, batch).status == 200)
        let refused = try await cloud.modify(as: ada, batch)
        #expect((refused.status, refused.code) == (429, "THROTTLED"))
        #expect(refused.body.retryAfter == 3)
        #expect(try await cloud.modify(as: bob, batch).status == 200)
        cloud.clock.advance(seconds: 3)
        #expect(try await cloud.modify(as: ada, batch).status == 200)
    }

    @Test("Two rules that fit take effect together; of two errors the first does")
    func together() async throws {
        let (cloud, user) = try await Self.cloud()
        cloud.service.setFaults(
            FaultPlan(rules: [
                FaultRule(.delay(milliseconds: 5)), FaultRule(.error(.zoneBusy)),
                FaultRule(.error(.conflict)),
            ])
        )
        let response = await cloud.service.respond(
            to: ServiceRequest(
                method: "POST",
                path: "/database/1/\(FixtureCloud.container)/development/private/zones/list",
                query: "ckAPIToken=\(cloud.apiToken)&ckWebAuthToken="
                    + FixtureCloud.escape(user.token),
                body: Data("{}".utf8),
                baseURL: ""
            )
        )
        #expect(response.status == 503)
        #expect(response.delivery.delayMilliseconds == 5)
    }
}
