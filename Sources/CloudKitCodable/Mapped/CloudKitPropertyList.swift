/// The properties of a model, as its mapping lists them.
public struct CloudKitPropertyList {
    private(set) var properties: [KnownProperty] = []

    /// Creates an empty list.
    init() {}

    /// Adds a property with its coding key.
    public mutating func add(_ type: Any.Type, _ key: some CodingKey) {
        properties.append(KnownProperty(key.stringValue, type))
    }
}
