#if PostgreSQL
import CloudKitWebClient
import CloudKitWire
import Foundation
import ServerFixtures
import Synchronization

/// Clients of one user that save records all the time, and what was acknowledged to them.
final class NodeWorkload: Sendable {
    private struct State {
        /// The records of which a save was acknowledged.
        var saved: Set<String> = []
        /// The last acknowledged value of each writer's own record.
        var values: [String: Int64] = [:]
        /// The values of which nobody knows, each of which may be written at any later time.
        var doubtful: [String: Set<Int64>] = [:]
        var acknowledged = 0
        var unknown = 0
        var last: ContinuousClock.Instant?
        var longestPause = Duration.zero
        var isEnded = false
    }

    static let zone = "Notes"

    private let door: Door
    private let url: String
    private let state = Mutex(State())

    init(_ door: Door, url: String) async throws {
        self.door = door
        self.url = url
        _ = try await door.callUntilDone(
            "zones/modify",
            [
                "operations": [
                    ["operationType": "create", "zone": ["zoneID": FixtureCloud.zone(Self.zone)]]
                ]
            ],
            node: 0
        )
        // With all record types and fields.
        _ = try await door.callUntilDone(
            "records/modify",
            [
                "zoneID": FixtureCloud.zone(Self.zone),
                "operations": [
                    FixtureCloud.note("forceReplace", "first", ["value": ["value": 0]])
                ],
            ],
            node: 0
        )
    }

    /// The number of acknowledged saves.
    var acknowledged: Int { state.withLock { $0.acknowledged } }
    /// The number of saves of which nobody knows whether they were made.
    var unknown: Int { state.withLock { $0.unknown } }
    /// The longest time without an acknowledged save.
    var longestPause: Duration { state.withLock { $0.longestPause } }

    /// Ends the clients after what they are doing.
    func end() { state.withLock { $0.isEnded = true } }

    /// Waits until some more saves were acknowledged.
    func wait(for more: Int) async throws {
        let goal = acknowledged + more
        while acknowledged < goal { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Saves new records in batches of two, and a record of its own over and over, until `end`.
    func write(_ number: Int) async throws {
        let client = door.client(
            url,
            retrying: RetryPolicy(attempts: 1000, delay: 0.02, longestDelay: 0.2, jitter: 0.5)
        )
        let own = "own-\(number)"
        var count: Int64 = 0
        while !state.withLock({ $0.isEnded }) {
            try Task.checkCancellation()
            count += 1
            let names = ["\(number)-\(count)-a", "\(number)-\(count)-b"]
            do {
                let response = try await client.modifyRecords(
                    ModifyRecordsRequest(
                        operations: names.map {
                            RecordOperation(
                                .create,
                                WireRecord(recordName: $0, recordType: "Note")
                            )
                        } + [
                            RecordOperation(
                                .forceReplace,
                                WireRecord(
                                    recordName: own,
                                    recordType: "Note",
                                    fields: ["value": WireField(.int64(count))]
                                )
                            )
                        ],
                        zoneID: WireZoneID(zoneName: Self.zone),
                        atomic: true
                    ),
                    in: .private
                )
                for case .failure(let error) in response.records {
                    door.problems.add("A save failed: \(error)")
                }
                acknowledge(names, own, count)
            } catch {
                state.withLock {
                    $0.unknown += 1
                    $0.doubtful[own, default: []].insert(count)
                }
                if case .refused(let refusal, _) = error,
                    refusal.nativeErrorCode != NativeErrorCode.serverResponseLost.rawValue
                {
                    door.problems.add("A save was refused: \(error)")
                }
            }
        }
    }

    private func acknowledge(_ names: [String], _ own: String, _ count: Int64) {
        state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.last { state.longestPause = max(state.longestPause, now - last) }
            state.last = now
            state.acknowledged += 1
            state.saved.formUnion(names)
            state.values[own] = count
        }
    }

    /// Returns what is wrong with the records that there are at last.
    func problems(_ records: [String: JSON]) -> [String] {
        let state = state.withLock { $0 }
        var problems: [String] = []
        let lost = state.saved.subtracting(records.keys).sorted()
        if !lost.isEmpty { problems.append("lost: \(lost.prefix(10))") }
        for (name, expected) in state.values {
            guard case .int(let value)? = records[name]?.fields.value.value,
                value == expected || state.doubtful[name]?.contains(value) == true
            else {
                problems.append("\(name) is not \(expected): \(records[name] ?? .null)")
                continue
            }
        }
        let batches = Dictionary(grouping: records.keys.filter { $0.first?.isNumber == true }) {
            $0.dropLast()
        }
        let torn = batches.filter { $0.value.count != 2 }.keys.sorted()
        if !torn.isEmpty { problems.append("torn: \(torn.prefix(10))") }
        return problems
    }
}
#endif
