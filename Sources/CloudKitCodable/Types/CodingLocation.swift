/// The location of a record in a graph, as a chain that becomes a path only when an error needs one.
indirect enum CodingLocation {
    case root
    case step(CodingLocation, any CodingKey)
    case index(CodingLocation, Int)

    /// Returns the location below this one.
    func appending(_ key: any CodingKey) -> CodingLocation {
        .step(self, key)
    }

    /// Returns the location of an element of the list at this location.
    func appending(index: Int) -> CodingLocation {
        .index(self, index)
    }

    /// The keys from the root to this location.
    var path: [any CodingKey] {
        var keys: [any CodingKey] = []
        var location = self
        while true {
            switch location {
            case .root: return keys.reversed()
            case .step(let parent, let key):
                keys.append(key)
                location = parent
            case .index(let parent, let index):
                keys.append(PathKey(index: index))
                location = parent
            }
        }
    }

    /// The location in the notation of messages.
    var text: String {
        if case .root = self { "the root" } else { path.text }
    }
}
