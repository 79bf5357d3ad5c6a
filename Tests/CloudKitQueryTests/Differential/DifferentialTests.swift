import CloudKit
import CloudKitCodable
import Foundation
import Support
import Testing

/// Compares the server's results, a predicate in memory, a query by key paths and a subscription with
/// an oracle that was written from the reference and shares no code with them.
///
/// `Scripts/query-differences` runs many more cases.
@Suite("Queries say the same everywhere")
struct DifferentialTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// The number of cases of one world.
    private static let casesPerWorld: UInt64 = 40
    private static let firstSeed = setting("CLOUDKIT_QUERY_SEED") ?? 1

    @Test("In the process", .timeLimit(.minutes(180)))
    func inProcess() async throws {
        try await run(Self.setting("CLOUDKIT_QUERY_CASES") ?? 2000, .inProcess)
    }

    @Test("Over HTTP", .timeLimit(.minutes(10)))
    func overHTTP() async throws {
        try await run(200, .overHTTP)
    }

    private func run(_ cases: UInt64, _ fixture: CloudFixture) async throws {
        let worlds = (cases + Self.casesPerWorld - 1) / Self.casesPerWorld
        for seed in Self.firstSeed..<(Self.firstSeed + worlds) {
            try await fixture.run { cloud in try await Self.world(seed, cloud) }
        }
    }

    private static func world(_ seed: UInt64, _ cloud: Cloud) async throws {
        var generator = CaseGenerator(seed: seed)
        let world = try await QueryWorld(cloud, &generator)
        let cases = (0..<casesPerWorld).map { QueryCase("seed \(seed), case \($0)", &generator) }
        for example in cases { await check(example, world) }
        try await checkSubscriptions(cases, world, &generator)
    }

    // MARK: Queries

    private static func check(_ example: QueryCase, _ world: QueryWorld) async {
        let written = CaseFormat(example.condition, user: world.user)
        let place: Comment =
            "\(example.name): \(written.format) \(written.arguments) in \(example.zone ?? "all zones"), by \(example.sorts)"
        let predicate = written.predicate
        let typed = CloudKitPredicate<Item>(example.condition).flatMap { try? $0.predicate() }
        let expected = Set(
            world.known.values.filter {
                example.condition.holds($0) && (example.zone ?? $0.zone) == $0.zone
            }.map(\.identity)
        )
        for record in world.records {
            guard let known = world.oracle(record.recordID) else { continue }
            let holds = example.condition.holds(known)
            #expect(
                predicate.evaluate(with: record) == holds,
                "\(place): in memory, of \(known)"
            )
            if let typed {
                #expect(typed.evaluate(with: record) == holds, "\(place): key paths, of \(known)")
            }
        }
        do {
            let found = try await response(example, predicate, world)
            #expect(Set(found.map(\.identity)) == expected, place)
            #expect(
                found.count == Set(found.map(\.identity)).count,
                "\(place): a record came twice"
            )
            for (first, second) in zip(found, found.dropFirst()) {
                #expect(example.allows(first, before: second), "\(place): \(first), \(second)")
            }
            if let typed, example.pageSize == 200 {
                let found = try await response(example, typed, world)
                #expect(Set(found.map(\.identity)) == expected, "\(place): key paths")
            }
        } catch {
            Issue.record(error, place)
        }
        checkMemoryOrder(example, world, place)
    }

    /// Checks sorting in memory, as apps sort their records.
    private static func checkMemoryOrder(
        _ example: QueryCase,
        _ world: QueryWorld,
        _ place: Comment
    ) {
        let descriptors = example.descriptors
        guard !descriptors.isEmpty else { return }
        let sorted = world.records.sorted { first, second in
            for descriptor in descriptors {
                switch descriptor.compare(first, to: second) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }.compactMap { world.oracle($0.recordID) }
        for (first, second) in zip(sorted, sorted.dropFirst()) {
            #expect(
                example.allows(first, before: second),
                "\(place): in memory, \(first), \(second)"
            )
        }
    }

    /// Returns the server's results, page by page, as the oracle's records.
    private static func response(
        _ example: QueryCase,
        _ predicate: NSPredicate,
        _ world: QueryWorld
    ) async throws -> [OracleRecord] {
        let query = CKQuery(recordType: "Item", predicate: predicate)
        query.sortDescriptors = example.descriptors
        var (matches, cursor) = try await world.database.records(
            matching: query,
            inZoneWith: example.zoneID,
            desiredKeys: [],
            resultsLimit: example.pageSize
        )
        var found = matches
        while let next = cursor {
            (matches, cursor) = try await world.database.records(
                continuingMatchFrom: next,
                desiredKeys: [],
                resultsLimit: example.pageSize
            )
            found += matches
        }
        return found.map { world.oracle($0.0) ?? OracleRecord(zone: "?", name: "?", fields: [:]) }
    }

    // MARK: Subscriptions

    private static func checkSubscriptions(
        _ cases: [QueryCase],
        _ world: QueryWorld,
        _ generator: inout CaseGenerator
    ) async throws {
        let subscriptions = cases.map { example in
            let subscription = CKQuerySubscription(
                recordType: "Item",
                predicate: CaseFormat(example.condition, user: world.user).predicate,
                subscriptionID: example.name,
                options: [
                    .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
                ]
            )
            subscription.zoneID = example.zoneID
            subscription.notificationInfo = CKSubscription.NotificationInfo(
                shouldSendContentAvailable: true
            )
            return subscription
        }
        let (saved, _) = try await world.database.modifySubscriptions(
            saving: subscriptions,
            deleting: []
        )
        var watched: [String: QueryCase] = [:]
        for example in cases {
            do {
                _ = try saved[example.name]?.get()
                watched[example.name] = example
            } catch {
                // Two equal subscriptions are refused.
                #expect("\(error)".contains("watches the same"), "\(example.name)")
            }
        }
        try await checkRead(watched, world)
        for _ in 0..<6 {
            let change = try await world.change(&generator)
            let states = [change.before, change.after].compactMap(\.self)
            let expected = watched.filter { _, example in
                states.contains {
                    example.condition.holds($0) && (example.zone ?? $0.zone) == $0.zone
                }
            }
            #expect(change.heard == Set(expected.keys), "\(change)")
        }
    }

    /// Checks that a subscription that is read back is unchanged.
    private static func checkRead(
        _ watched: [String: QueryCase],
        _ world: QueryWorld
    ) async throws {
        for case let read as CKQuerySubscription in try await world.database.allSubscriptions() {
            guard let example = watched[read.subscriptionID] else { continue }
            for record in world.records {
                guard let known = world.oracle(record.recordID),
                    (example.zone ?? known.zone) == known.zone
                else { continue }
                #expect(
                    read.predicate.evaluate(with: record) == example.condition.holds(known),
                    "\(example.name), read back: \(CaseFormat(example.condition, user: world.user)) of \(known)"
                )
            }
        }
    }
}
