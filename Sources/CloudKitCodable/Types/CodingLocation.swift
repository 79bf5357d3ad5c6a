/// Where a record stands in a graph, as a chain that becomes a path only when an error needs one.
indirect enum CodingLocation {
    case root
    case step(CodingLocation, any CodingKey)
    case index(CodingLocation, Int)

    /// The place below this one.
    func appending(_ key: any CodingKey) -> CodingLocation {
        .step(self, key)
    }

    /// The place of an element of the list that is here.
    func appending(index: Int) -> CodingLocation {
        .index(self, index)
    }

    /// The keys from the root to here.
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

    /// The place as people write it.
    var text: String {
        if case .root = self { "the root" } else { path.text }
    }
}
