/// The changes to send, oldest first, at most one for each record or zone.
///
/// Every addition has a number, even one without effect: so an acknowledgement can keep a change
/// that was added again after its request was created.
package struct PendingChanges<Change: PendingChange>: Sendable where Change.Subject: Sendable {
    /// The number of an addition.
    package typealias Stamp = UInt64

    private struct Entry: Sendable {
        var change: Change
        var stamp: Stamp
    }

    /// The entries in order, with gaps for removed ones.
    private var entries: [Entry?] = []
    private var places: [Change.Subject: Int] = [:]
    private var last: Stamp = 0

    package init() {}

    package var isEmpty: Bool { places.isEmpty }

    package var count: Int { places.count }

    /// The changes, oldest first.
    package var elements: [Change] { entries.compactMap { $0?.change } }

    /// Returns the first changes that satisfy a condition.
    package func prefix(_ limit: Int, where isIncluded: (Change) -> Bool) -> [Change] {
        var found: [Change] = []
        for case let entry? in entries where isIncluded(entry.change) {
            found.append(entry.change)
            if found.count == limit { break }
        }
        return found
    }

    package func contains(_ change: Change) -> Bool {
        guard let place = places[change.subject] else { return false }
        return entries[place]?.change == change
    }

    /// The number of the latest addition: later ones are newer.
    package var horizon: Stamp { last }

    /// Adds a change; a pending one keeps its place, and its opposite is removed.
    ///
    /// The addition gets a new number, or that of `horizon`.
    package mutating func add(_ change: Change, horizon: Stamp? = nil) {
        if horizon == nil { last += 1 }
        let stamp = horizon ?? last
        if let place = places[change.subject], let entry = entries[place] {
            if entry.change == change {
                // With a lower number, an acknowledgment could remove the newer addition.
                entries[place]?.stamp = max(entry.stamp, stamp)
                return
            }
            removeEntry(at: place, of: change.subject)
        }
        places[change.subject] = entries.count
        entries.append(Entry(change: change, stamp: stamp))
    }

    /// Removes a change, unless it was added again after `horizon`.
    ///
    /// - Returns: Whether the change was pending and has been removed.
    @discardableResult
    package mutating func remove(_ change: Change, until horizon: Stamp = .max) -> Bool {
        guard let place = places[change.subject], let entry = entries[place],
            entry.change == change, entry.stamp <= horizon
        else { return false }
        removeEntry(at: place, of: change.subject)
        return true
    }

    package mutating func removeAll() {
        entries = []
        places = [:]
    }

    private mutating func removeEntry(at place: Int, of subject: Change.Subject) {
        entries[place] = nil
        places[subject] = nil
        // Only when the gaps outnumber the changes, so that a removal costs constant time on
        // average.
        guard entries.count > 32, entries.count > 2 * places.count else { return }
        entries = entries.filter { $0 != nil }
        for (place, entry) in entries.enumerated() {
            if let entry { places[entry.change.subject] = place }
        }
    }
}
