/// Where a record stands in a graph, as a chain that becomes a path only when an error needs one.
indirect enum CodingLocation {
    case root
    case step(CodingLocation, any CodingKey)

    /// The place below this one.
    func appending(_ key: any CodingKey) -> CodingLocation {
        .step(self, key)
    }

    /// The place of an element of a list below this one.
    func appending(_ key: any CodingKey, index: Int) -> CodingLocation {
        .step(.step(self, key), PathKey(index: index))
    }

    /// The keys from the root to here.
    var path: [any CodingKey] {
        var keys: [any CodingKey] = []
        var location = self
        while case .step(let parent, let key) = location {
            keys.append(key)
            location = parent
        }
        return keys.reversed()
    }

    /// The place as people write it.
    var text: String {
        if case .root = self { "the root" } else { path.text }
    }
}
