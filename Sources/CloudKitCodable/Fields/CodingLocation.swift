/// The location of a record in a graph, as a chain that becomes a path only when an error needs one.
indirect enum CodingLocation {
    case root
    case step(CodingLocation, any CodingKey)
    case index(CodingLocation, Int)

    /// The deepest nesting of models; deeper nesting is an error instead of a stack overflow.
    static let deepest = 128

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

/// A coding key that needs no enumeration: a field's name, or a position in a list.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) {
        self.init(stringValue)
    }

    init?(intValue: Int) {
        self.init(index: intValue)
    }
}

extension [any CodingKey] {
    /// The path in the notation of messages: `countries[3].name`.
    var text: String {
        reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
    }
}
