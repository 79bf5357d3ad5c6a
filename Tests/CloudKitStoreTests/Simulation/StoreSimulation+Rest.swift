import CloudKit
import CloudKitStore
import CloudKitTesting

extension StoreSimulation {
    /// The maximum number of rounds of syncs until no device has changes left.
    private static let roundLimit = 12

    /// Syncs all devices without faults until none has changes left, checks their rows, and repeats
    /// this with the newer version of the app on all of them.
    func rest(in world: SimulatedWorld) async throws {
        world.cloud.setFaults(nil)
        try await settle(in: world)
        for device in devices where problems.isEmpty {
            let differences = try await device.store.verify().differences
            if !differences.isEmpty {
                problems.append("I1: \(device.name) and the server differ: \(differences)")
            }
            problems += try await inspectTokens(device, in: world)
        }
        try await check(in: world)
        try await checkValues(in: world)
        guard problems.isEmpty, devices.contains(where: { !$0.isNew }) else { return }
        for device in devices where !device.isNew { try await device.relaunch(upgrading: true) }
        world.trace.add("at rest, all devices have the newer version")
        try await settle(in: world)
        try await check(in: world)
        try await checkValues(in: world)
    }

    private func settle(in world: SimulatedWorld) async throws {
        for _ in 0..<Self.roundLimit {
            var isQuiet = true
            for device in devices {
                try pass(in: world)
                let (summary, error, found) = await device.sync()
                problems += found
                if let error {
                    problems.append("I14: \(device.name) cannot sync at rest: \(error)")
                }
                guard problems.isEmpty, let summary else { return }
                if summary != SyncSummary() { isQuiet = false }
                problems += try await device.inspect()
            }
            if isQuiet { return }
        }
        problems.append("I14: after \(Self.roundLimit) rounds there is still something to say")
    }

    private func check(in world: SimulatedWorld) async throws {
        guard problems.isEmpty else { return }
        var journal: [String: [String: Set<StoreValue>]] = [:]
        var rules: [String: Set<String>] = [:]
        for device in devices {
            let status = try await device.store.status
            if !status.isSettled {
                problems.append("I14: \(device.name) is not settled: \(status)")
            }
            for entry in try await device.store.journal() {
                let row = "\(entry.table)/\(Self.key(entry))"
                rules[row, default: []].insert(entry.rule)
                for (field, value) in entry.lost {
                    let isExact = SimulatedValue.columns.contains(field)
                    let shown = isExact ? SimulatedValue.exact(value, of: field) : value
                    journal[row, default: [:]][field, default: []].insert(shown)
                }
            }
        }
        let isNew = devices.allSatisfy(\.isNew)
        let first = try shown(by: devices[0], isNew: isNew)
        for device in devices.dropFirst() where device.user == 0 {
            problems += Self.differences(first, try shown(by: device, isNew: isNew), device.name)
        }
        // The newer version shows rows that the older one cannot.
        var complete = try devices.first(where: \.isNew).map { try $0.contents() }
        if plan.variant.isShared {
            let others = try await checkSharing(in: world)
            complete = complete?.merging(others) { first, _ in first }
        }
        if let complete {
            problems += model.problems(complete, journal: journal, rules: rules)
        }
        for line in first.map({ "\($0.key) \($0.value.sorted { $0.key < $1.key })" }).sorted() {
            world.trace.add("  " + line)
        }
    }

    /// Returns the text of a journal entry's key, as in contents.
    private static func key(_ entry: JournalEntry) -> String {
        guard entry.table == "mark" else { return entry.key }
        return entry.key.split { "[],\" ".contains($0) }.joined(separator: "/")
    }

    /// Returns a device's rows, without parts that not all versions of the app know.
    private func shown(
        by device: SimulatedDevice,
        isNew: Bool
    ) throws -> SimulatedApp.Contents {
        let contents = try device.contents()
        guard !isNew else { return contents }
        return contents.filter { !$0.key.hasPrefix("task/") }.mapValues { fields in
            fields.filter { $0.key != "extra" }
        }
    }

    static func differences(
        _ first: SimulatedApp.Contents,
        _ other: SimulatedApp.Contents,
        _ name: String,
        than base: String = "d0"
    ) -> [String] {
        Set(first.keys).union(other.keys).sorted().flatMap { row -> [String] in
            guard let mine = first[row] else {
                return ["I1: \(base) lacks \(row), which \(name) has"]
            }
            guard let others = other[row] else { return ["I1: \(name) lacks \(row)"] }
            return mine.keys.sorted().filter { mine[$0] != others[$0] }.map {
                "I1: \(base) and \(name) differ in \($0) of \(row)"
            }
        }
    }
}
