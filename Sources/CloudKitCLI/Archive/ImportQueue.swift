import CloudKitWebClient

/// The records of one zone that wait for the records that they need.
struct ImportQueue {
    /// Records that can be sent now, in order.
    private(set) var ready: [ImportItem] = []
    /// Bytes of those records.
    private(set) var bytes = 0
    /// The names that were sent or are ready.
    private var known: Set<String> = []
    /// Records that need one that has not been read yet, by its name.
    private var waiting: [String: [ImportItem]] = [:]
    private var waitingNames: Set<String> = []

    /// Adds a record after those that it needs; it replaces an earlier waiting record with the same name.
    ///
    /// - Returns: The replaced records.
    mutating func add(_ item: ImportItem) -> [ImportItem] {
        var replaced: [ImportItem] = []
        if waitingNames.contains(item.name) {
            for target in waiting.keys {
                replaced += waiting[target]?.filter { $0.name == item.name } ?? []
                waiting[target]?.removeAll { $0.name == item.name }
            }
        }
        release([item])
        return replaced
    }

    /// Marks a record as sent.
    mutating func noteSent(_ name: String) {
        known.insert(name)
        release(waiting.removeValue(forKey: name) ?? [])
    }

    private mutating func release(_ items: [ImportItem]) {
        var next = Array(items.reversed())
        while let item = next.popLast() {
            waitingNames.remove(item.name)
            if let missing = item.targets.first(where: { !known.contains($0) }), !item.isDeletion {
                waiting[missing, default: []].append(item)
                waitingNames.insert(item.name)
                continue
            }
            ready.append(item)
            bytes += item.record.byteCount
            if known.insert(item.name).inserted {
                next += (waiting.removeValue(forKey: item.name) ?? []).reversed()
            }
        }
    }

    /// Removes and returns the records that can be sent.
    mutating func takeReady() -> [ImportItem] {
        defer {
            ready = []
            bytes = 0
        }
        return ready
    }

    /// Stops waiting for records that were not read and do not wait themselves, because the service
    /// may have them.
    mutating func stopWaitingForAbsent() {
        for name in waiting.keys.filter({ !waitingNames.contains($0) }).sorted() {
            known.insert(name)
            release(waiting.removeValue(forKey: name) ?? [])
        }
    }

    /// Removes and returns the records that need each other, in the order of their lines.
    mutating func takeWaiting() -> [ImportItem] {
        defer {
            waiting = [:]
            waitingNames = []
        }
        return waiting.values.joined().sorted { $0.line.number < $1.line.number }
    }
}
