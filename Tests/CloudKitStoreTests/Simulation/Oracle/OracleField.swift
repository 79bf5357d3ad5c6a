/// One field of one row: the service's values, the edits with their authors and times, and the
/// values that each device may hold according to the rules.
///
/// A device merges the service's versions when it receives them, at a time that only the device
/// knows. So every device has a set of possibilities. Each observed value reduces the set: the row
/// before a write, the sent values, and the final row. An empty set means that a rule was violated.
struct OracleField {
    /// A user's edit.
    private struct Edit {
        var value: OracleValue
        var device: Int
        /// The time of the edit, by the service's clock.
        var time: Int64
        /// `true` when the device knew the time.
        var isTimed: Bool
        /// `true` when the service accepted it.
        var isSent = false
    }

    /// A state that a device may be in.
    private struct Possibility: Hashable {
        /// The number of the service's versions that it has merged.
        var seen = 0
        var base = OracleValue.none
        var local = OracleValue.none
        /// The values that its user has written since then and that may be in flight, oldest first;
        /// empty when nothing is to be sent.
        var unsent: [OracleValue] = []

        var isEdited: Bool { !unsent.isEmpty }
    }

    let rule: OracleRule
    /// The service's values, starting before the first version.
    private var history: [OracleValue] = [.none]
    private var edits: [Edit] = []
    private var devices: [Int: Set<Possibility>] = [:]

    init(_ rule: OracleRule) {
        self.rule = rule
    }

    // MARK: What happens

    /// Adds a user's write on a device; returns the problem of the device's previous value.
    mutating func write(
        _ value: OracleValue,
        over old: OracleValue?,
        by device: Int,
        at time: Int64,
        isTimed: Bool
    ) -> String? {
        edits.append(Edit(value: value, device: device, time: time, isTimed: isTimed))
        let reached = reach(possibilities(device), history.count - 1)
        let shown = reached.filter { old == nil || $0.local == old }
        devices[device] = Set(
            (shown.isEmpty ? reached : shown).map { possibility in
                var next = possibility
                next.local = value
                next.unsent.append(value)
                return next
            }
        )
        return shown.isEmpty ? "shows \(text(old)), \(allowed(reached))" : nil
    }

    /// Marks the times of a device's unsent edits as uncertain, because its clock was set.
    mutating func loseTimes(of device: Int) {
        for place in edits.indices where edits[place].device == device {
            if !history.contains(edits[place].value) { edits[place].isTimed = false }
        }
    }

    /// Adds a version of a device, with or without a value of the field; returns its problem.
    mutating func save(_ value: OracleValue?, by device: Int) -> String? {
        let last = history.count - 1
        history.append(value ?? history[last])
        if let place = edits.lastIndex(where: { $0.value == value }) { edits[place].isSent = true }
        let reached = reach(possibilities(device), last).filter { $0.seen == last }
        let next = reached.compactMap { sent(value, history[last], $0) }
        devices[device] = next.isEmpty ? [settled(history.count - 1)] : Set(next)
        return next.isEmpty ? "sends \(text(value)), \(allowed(reached))" : nil
    }

    /// Adds a version that no store created, with the previous values.
    mutating func pass() { history.append(history[history.count - 1]) }

    /// Allows the device to hold the service's value, for example after a refused edit.
    mutating func mayLose(_ device: Int) {
        devices[device, default: [Possibility()]].insert(settled(history.count - 1))
    }

    /// Returns the problem of a device's value after everything has been sent and fetched.
    func rest(_ value: OracleValue, on device: Int) -> String? {
        let last = history.count - 1
        let reached = reach(possibilities(device), last).filter { $0.seen == last }
        let isPossible = reached.contains { $0.local == value && $0.base == value }
        guard !isPossible || value != history[last] else { return nil }
        return "shows \(text(value)) at rest, the service has \(text(history[last])), "
            + allowed(reached)
    }

    /// Returns the states that the device may be in.
    private func possibilities(_ device: Int) -> Set<Possibility> {
        devices[device] ?? [Possibility()]
    }

    private func settled(_ version: Int) -> Possibility {
        Possibility(seen: version, base: history[version], local: history[version])
    }

    private func text(_ value: OracleValue?) -> String { value.map { "\($0)" } ?? "nothing" }

    private func allowed(_ possibilities: Set<Possibility>) -> String {
        let values = Set(possibilities.map { "\($0.local)" }).sorted().joined(separator: " or ")
        return "where \(rule) allows \(values.isEmpty ? "no value" : values)"
    }

    /// `true` when every edit's time is known, so that the last one wins.
    var lastEditWins: Bool {
        guard case .later = rule else { return false }
        return edits.allSatisfy(\.isTimed)
            && edits.dropLast().allSatisfy { $0.time < edits[edits.count - 1].time }
    }

    /// The value of the latest edit that the service accepted; nil if that cannot be determined.
    var newest: OracleValue? {
        guard case .later = rule else { return nil }
        let sent = edits.filter(\.isSent)
        let isCertain = sent.allSatisfy { edit in
            edit.isTimed && edits.count { $0.value == edit.value || $0.time == edit.time } == 1
        }
        return isCertain ? sent.max { $0.time < $1.time }?.value : nil
    }

    /// All values that the field has had anywhere.
    var values: Set<OracleValue> { Set(history).union(edits.map(\.value)) }

    // MARK: Merging

    private func sent(
        _ value: OracleValue?,
        _ before: OracleValue,
        _ possibility: Possibility
    ) -> Possibility? {
        var next = possibility
        next.seen = history.count - 1
        // An unchanged value gives no information.
        guard let value, value != before else { return next }
        guard let place = possibility.unsent.firstIndex(of: value) else { return nil }
        next.base = value
        next.unsent = Array(possibility.unsent[(place + 1)...])
        return next
    }

    /// Returns the possible results of merging some of the versions up to one, or none.
    private func reach(_ possibilities: Set<Possibility>, _ last: Int) -> Set<Possibility> {
        var all = possibilities
        guard last > 0 else { return all }
        for version in 1...last {
            for possibility in all where possibility.seen < version {
                all.formUnion(merge(possibility, version))
            }
        }
        return all
    }

    private func merge(_ possibility: Possibility, _ version: Int) -> [Possibility] {
        let theirs = history[version]
        let (base, ours) = (possibility.base, possibility.local)
        let taken = settled(version)
        guard possibility.isEdited else { return [taken] }
        var kept = possibility
        kept.seen = version
        kept.base = theirs
        if let combined = rule.combination(of: ours, theirs, since: base) {
            kept.local = combined
            kept.unsent = possibility.unsent.compactMap {
                rule.combination(of: $0, theirs, since: base)
            }
            return [kept]
        }
        kept.unsent = [ours]
        if ours == theirs || ours == base { return [taken] }
        if theirs == base { return [kept] }
        return switch winner(ours, theirs, version) {
        case true?: [kept]
        case false?: [taken]
        case nil: [kept, taken]
        }
    }

    /// Returns whether the device's value wins; nil if that cannot be determined from outside.
    private func winner(_ ours: OracleValue, _ theirs: OracleValue, _ version: Int) -> Bool? {
        switch rule {
        // Nobody wins where both count.
        case .sum, .set: nil
        case .server: false
        case .client: true
        case .later: isLater(ours, than: theirs, version)
        case .smallest: precedes(ours, theirs)
        case .greatest: precedes(theirs, ours) || theirs == .none
        case .sortsLater:
            if case .text(let ours) = ours {
                if case .text(let theirs) = theirs { !(ours < theirs) } else { true }
            } else {
                false
            }
        }
    }

    /// Returns whether a number sorts before another; no value never does.
    private func precedes(_ one: OracleValue, _ other: OracleValue) -> Bool {
        switch (one, other) {
        case (.number(let one), .number(let other)): one < other
        case (.number, .none): true
        default: false
        }
    }

    /// Returns whether a value says whose edit it is: some are written by several users.
    private func isCertain(_ value: OracleValue) -> Bool {
        value == .none || edits.count { $0.value == value } == 1
    }

    private func isLater(
        _ ours: OracleValue,
        than theirs: OracleValue,
        _ version: Int
    ) -> Bool? {
        // A wrong time in the record may be that of every edit since.
        let known = history[1...version].map { value in edits.last { $0.value == value } }
        guard known.allSatisfy({ $0?.isTimed == true }),
            isCertain(ours), isCertain(theirs),
            let mine = edits.last(where: { $0.value == ours }), mine.isTimed,
            let others = edits.last(where: { $0.value == theirs }), mine.time != others.time
        else { return nil }
        return mine.time > others.time
    }
}
