/// The coding keys of a container's type: which names can be keys of it.
struct KeySpace: Sendable {
    private let identifier: ObjectIdentifier

    /// Whether the type has some names and no others, as an enumeration does.
    let isClosed: Bool

    /// All names, where the type lists them.
    let all: [String]

    private let isKey: @Sendable (String) -> Bool

    init<Key: CodingKey>(_ type: Key.Type) {
        identifier = ObjectIdentifier(type)
        // No property is called so: a type that takes it takes everything.
        isClosed = Key(stringValue: "\u{1}") == nil
        isKey = { name in Key(stringValue: name) != nil }
        all = (type as? any CaseIterable.Type).map { Self.names($0) } ?? []
    }

    private static func names<Keys: CaseIterable>(_ type: Keys.Type) -> [String] {
        type.allCases.compactMap { ($0 as? any CodingKey)?.stringValue }
    }

    /// Whether the keys are those of a type.
    func isOf(_ type: any CodingKey.Type) -> Bool { identifier == ObjectIdentifier(type) }

    /// Whether a name is a key for certain.
    func owns(_ name: String) -> Bool { isClosed && isKey(name) }
}
