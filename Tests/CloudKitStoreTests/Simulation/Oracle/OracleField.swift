/// A value of a column or field, as the oracle reads it.
enum OracleValue: Hashable, Sendable {
    case none
    case number(Int64)
    case text(String)
}

/// What decides between two edits of one field, as the guide has it.
enum OracleRule: Sendable {
    case later, server, client, smallest, greatest
    /// The app's own rule: no text loses against a text, of two the one that sorts later wins.
    case sortsLater
}

/// One field of one row: the values that the service has had, who wrote what when, and what each device
/// may hold of it by the rules.
///
/// A device merges the service's versions when it hears of them, and nobody else knows when that is. So
/// every device has a set of possibilities. What its user sees before a write, what it sends and what it
/// holds in the end leaves some of them; where none is left, a rule was broken.
struct OracleField {
    /// A value that a user wrote.
    private struct Edit {
        var value: OracleValue
        var device: Int
        /// When, by the service's clock.
        var time: Int64
        /// Whether the device knew the time.
        var isTimed: Bool
    }

    /// What a device may hold.
    private struct Possibility: Hashable {
        /// How many of the service's versions it has merged.
        var seen = 0
        var base = OracleValue.none
        var local = OracleValue.none
        /// The values that its user wrote since then and that may be on their way, oldest first; none
        /// when nothing is to be sent.
        var unsent: [OracleValue] = []

        var isEdited: Bool { !unsent.isEmpty }
    }

    let rule: OracleRule
    /// The service's values, from before the first version.
    private var history: [OracleValue] = [.none]
    private var edits: [Edit] = []
    private var devices: [Int: Set<Possibility>] = [:]

    init(_ rule: OracleRule) {
        self.rule = rule
    }

    // MARK: What happens

    /// A user writes on a device; says what is wrong with what the device showed before.
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

    /// A device's clock was set: times of what it has not sent are uncertain from then on.
    mutating func loseTimes(of device: Int) {
        for place in edits.indices where edits[place].device == device {
            if !history.contains(edits[place].value) { edits[place].isTimed = false }
        }
    }

    /// The service takes a version of a device, which says a value of the field, or nothing; says what
    /// is wrong with it.
    mutating func save(_ value: OracleValue?, by device: Int) -> String? {
        let last = history.count - 1
        history.append(value ?? history[last])
        let reached = reach(possibilities(device), last).filter { $0.seen == last }
        let next = reached.compactMap { sent(value, history[last], $0) }
        devices[device] = next.isEmpty ? [settled(history.count - 1)] : Set(next)
        return next.isEmpty ? "sends \(text(value)), \(allowed(reached))" : nil
    }

    /// The service has a version that no store made, with the values of before.
    mutating func pass() { history.append(history[history.count - 1]) }

    /// The device is taken to hold what the service has, such as after an edit that was refused.
    mutating func mayLose(_ device: Int) {
        devices[device, default: [Possibility()]].insert(settled(history.count - 1))
    }

    /// Says what is wrong with what a device shows when everything has been sent and fetched.
    func rest(_ value: OracleValue, on device: Int) -> String? {
        let last = history.count - 1
        let reached = reach(possibilities(device), last).filter { $0.seen == last }
        let isPossible = reached.contains { $0.local == value && $0.base == value }
        guard !isPossible || value != history[last] else { return nil }
        return "shows \(text(value)) at rest, the service has \(text(history[last])), "
            + allowed(reached)
    }

    /// The values that the device may hold.
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

    /// Whether every edit's time is known, so that the last one wins.
    var lastEditWins: Bool {
        guard case .later = rule else { return false }
        return edits.allSatisfy(\.isTimed)
            && edits.dropLast().allSatisfy { $0.time < edits[edits.count - 1].time }
    }

    // MARK: Merging

    private func sent(
        _ value: OracleValue?,
        _ before: OracleValue,
        _ possibility: Possibility
    ) -> Possibility? {
        var next = possibility
        next.seen = history.count - 1
        // What is as it was says nothing.
        guard let value, value != before else { return next }
        guard let place = possibility.unsent.firstIndex(of: value) else { return nil }
        next.base = value
        next.unsent = Array(possibility.unsent[(place + 1)...])
        return next
    }

    /// What may come of merging some of the versions up to one, or none.
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
        var kept = possibility
        kept.seen = version
        kept.base = theirs
        kept.unsent = [ours]
        if !possibility.isEdited || ours == theirs || ours == base { return [taken] }
        if theirs == base { return [kept] }
        return switch winner(ours, theirs, version) {
        case true?: [kept]
        case false?: [taken]
        case nil: [kept, taken]
        }
    }

    /// Whether the device's value wins; nil where that cannot be told from outside.
    private func winner(_ ours: OracleValue, _ theirs: OracleValue, _ version: Int) -> Bool? {
        switch rule {
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

    /// Whether a number comes before another; no value never does.
    private func precedes(_ one: OracleValue, _ other: OracleValue) -> Bool {
        switch (one, other) {
        case (.number(let one), .number(let other)): one < other
        case (.number, .none): true
        default: false
        }
    }

    private func isLater(
        _ ours: OracleValue,
        than theirs: OracleValue,
        _ version: Int
    ) -> Bool? {
        // A wrong time that is in the record may be that of every edit since.
        let known = history[1...version].map { value in edits.last { $0.value == value } }
        guard known.allSatisfy({ $0?.isTimed == true }),
            let mine = edits.last(where: { $0.value == ours }), mine.isTimed,
            let others = edits.last(where: { $0.value == theirs }), mine.time != others.time
        else { return nil }
        return mine.time > others.time
    }
}
