/// The coding keys of a container's type: the names that can be its keys.
struct KeySpace: Sendable {
    private let identifier: ObjectIdentifier

    /// `true` when the type has a fixed set of names, like an enumeration.
    let isClosed: Bool

    /// All names, if the type lists them.
    let all: [String]

    private let isKey: @Sendable (String) -> Bool

    init<Key: CodingKey>(_ type: Key.Type) {
        identifier = ObjectIdentifier(type)
        // No property has this name: a type that accepts it accepts everything.
        isClosed = Key(stringValue: "\u{1}") == nil
        isKey = { name in Key(stringValue: name) != nil }
        all = (type as? any CaseIterable.Type).map { Self.names($0) } ?? []
    }

    private static func names<Keys: CaseIterable>(_ type: Keys.Type) -> [String] {
        type.allCases.compactMap { ($0 as? any CodingKey)?.stringValue }
    }

    /// Returns whether the keys are those of a type.
    func isOf(_ type: any CodingKey.Type) -> Bool { identifier == ObjectIdentifier(type) }

    /// Returns whether a name is certainly a key.
    func owns(_ name: String) -> Bool { isClosed && isKey(name) }
}
