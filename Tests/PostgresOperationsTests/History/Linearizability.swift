/// An object of which each operation takes effect at one moment.
protocol SequentialObject: Hashable, Sendable {
    associatedtype Operation: Sendable

    /// Applies an operation; returns whether it has the outcome that it names in this state.
    mutating func apply(_ operation: Operation) -> Bool

    /// Returns whether an operation with its outcome changes nothing in any state.
    static func isObservation(_ operation: Operation) -> Bool
}

/// An operation on an object as a client saw it.
struct Call<Operation: Sendable>: Sendable {
    /// The operation and its outcome; an unknown outcome is that of an operation that takes effect.
    var operation: Operation
    /// The number of the moment at which the client began.
    var start: Int
    /// The moment at which it had the outcome; nil if it never had: the operation takes effect at any
    /// later moment, or never.
    var end: Int?
}

/// A search for an order of a history's calls in which one copy of the object has all their outcomes, and
/// in which each call takes effect between its start and its end: Wing and Gong's, which enters no
/// configuration twice, as Lowe's does.
///
/// A call of unknown outcome is not tried everywhere, because a hundred of them have 2^100 subsets. Where an
/// order exists, one exists in which each of them takes effect as late as possible: one that changes nothing
/// for the call after it waits for that one, one that is written over at once is left out, and of two that
/// may change places the first to begin is first.
struct Linearizability<Object: SequentialObject> {
    enum Verdict: Equatable {
        case isLinearizable
        /// There is no such order; with the calls among which one has an impossible outcome, after the longest
        /// part of the history that has an order.
        case isNot(String)
        /// The search was given up.
        case isUnknown
    }

    /// The calls that have taken effect, and the object after them.
    private struct Configuration: Hashable {
        var done: Bits
        var object: Object
        /// The last call and the object before it, if its outcome is unknown.
        var doubtful: Doubtful?
    }

    private struct Doubtful: Hashable {
        var place: Int
        var object: Object
    }

    /// A set of calls, by their places.
    private struct Bits: Hashable {
        private var words: [UInt64]

        init(count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

        func contains(_ place: Int) -> Bool { words[place >> 6] & 1 << UInt64(place & 63) != 0 }

        mutating func insert(_ place: Int) { words[place >> 6] |= 1 << UInt64(place & 63) }
    }

    /// A configuration in which the search is, and the calls that it has not tried there.
    private struct Step {
        var configuration: Configuration
        /// The number of calls with an outcome that have taken effect.
        var count: Int
        /// The number of the first calls of which all have taken effect.
        var first: Int
        var candidates: [Int]
    }

    /// The maximum number of configurations to enter.
    static var limit: Int { 300_000 }

    private let calls: [Call<Object.Operation>]
    private let goal: Int

    private init(_ history: [Call<Object.Operation>]) {
        calls = history.sorted { $0.start < $1.start }
        goal = calls.count { $0.end != nil }
    }

    /// Looks for an order of a history that begins with an object.
    static func check(_ history: [Call<Object.Operation>], from object: Object) -> Verdict {
        Self(history).search(object)
    }

    private func search(_ object: Object) -> Verdict {
        let start = Configuration(done: Bits(count: calls.count), object: object)
        var entered: Set<Configuration> = [start]
        var steps = [step(start, count: 0, first: 0)]
        var furthest = steps[0]
        while var step = steps.popLast() {
            guard step.count < goal else { return .isLinearizable }
            guard let place = step.candidates.popLast() else { continue }
            steps.append(step)
            guard let next = next(step.configuration, place), entered.insert(next).inserted else {
                continue
            }
            guard entered.count <= Self.limit else { return .isUnknown }
            let count = step.count + (calls[place].end == nil ? 0 : 1)
            let new = self.step(next, count: count, first: step.first)
            if count > furthest.count { furthest = new }
            steps.append(new)
        }
        let stuck = self.step(furthest.configuration, count: 0, first: 0).candidates
        return .isNot(
            "after \(furthest.count) of \(goal) calls in \(furthest.configuration.object), "
                + stuck.map { "\(calls[$0])" }.joined(separator: "; ")
        )
    }

    /// Returns the configuration after a call; nil where it is not possible, or need not be tried.
    private func next(_ configuration: Configuration, _ place: Int) -> Configuration? {
        let call = calls[place]
        var next = configuration
        guard next.object.apply(call.operation) else { return nil }
        next.done.insert(place)
        next.doubtful =
            call.end == nil ? Doubtful(place: place, object: configuration.object) : nil
        guard let doubtful = configuration.doubtful else { return next }
        var other = doubtful.object
        guard other.apply(call.operation) else { return next }
        if other == next.object { return nil }
        guard call.end != nil || place < doubtful.place else { return next }
        let comesLater = other.apply(calls[doubtful.place].operation)
        return comesLater && other == next.object ? nil : next
    }

    /// Returns a step with the calls that can be the next ones: those that began before any other one
    /// ended; the one that ended first comes last, where it is tried first.
    ///
    /// An observation that fits is the only one: whenever it was made, it might as well have been made now.
    private func step(_ configuration: Configuration, count: Int, first: Int) -> Step {
        var first = first
        while first < calls.count, configuration.done.contains(first) { first += 1 }
        var earliestEnd = Int.max
        var candidates: [Int] = []
        for place in first..<calls.count where !configuration.done.contains(place) {
            guard calls[place].start < earliestEnd else { break }
            candidates.append(place)
            earliestEnd = min(earliestEnd, calls[place].end ?? .max)
        }
        candidates.removeAll { calls[$0].start > earliestEnd }
        let observation = candidates.first { place in
            var object = configuration.object
            return Object.isObservation(calls[place].operation)
                && object.apply(calls[place].operation)
        }
        if let observation { candidates = [observation] }
        candidates.sort { calls[$0].end ?? .max > calls[$1].end ?? .max }
        return Step(
            configuration: configuration,
            count: count,
            first: first,
            candidates: candidates
        )
    }
}
