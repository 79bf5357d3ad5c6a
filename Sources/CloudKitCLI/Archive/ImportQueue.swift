import CloudKitWebClient

/// The records of one zone that wait for their turn: after the records that they need.
struct ImportQueue {
    /// Records that can be sent now, in order.
    private(set) var ready: [ImportItem] = []
    /// Bytes of those records.
    private(set) var bytes = 0
    /// The names that were sent or are ready.
    private var known: Set<String> = []
    /// Records that need one that has not come yet, by its name.
    private var waiting: [String: [ImportItem]] = [:]
    private var readyNames: Set<String> = []

    /// Whether a record of that name is ready: one request changes each record once.
    func isReady(_ name: String) -> Bool { readyNames.contains(name) }

    /// Adds a record behind those that it needs.
    mutating func add(_ item: ImportItem) {
        var next = [item]
        while let item = next.popLast() {
            if let missing = item.targets.first(where: { !known.contains($0) }), !item.isDeletion {
                waiting[missing, default: []].append(item)
                continue
            }
            ready.append(item)
            bytes += item.record.byteCount
            readyNames.insert(item.name)
            if known.insert(item.name).inserted {
                next += (waiting.removeValue(forKey: item.name) ?? []).reversed()
            }
        }
    }

    /// Takes the records that can be sent.
    mutating func takeReady() -> [ImportItem] {
        defer {
            ready = []
            readyNames = []
            bytes = 0
        }
        return ready
    }

    /// Takes the records whose targets never came, in the order of their lines: the service may have
    /// the targets, or they need each other.
    mutating func takeWaiting() -> [ImportItem] {
        defer { waiting = [:] }
        return waiting.values.joined().sorted { $0.line.number < $1.line.number }
    }
}
