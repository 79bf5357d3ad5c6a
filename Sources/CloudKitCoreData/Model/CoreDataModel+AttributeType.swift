extension CoreDataModel {
    /// The type of an attribute.
    public enum AttributeType: Hashable, Sendable {
        /// `Integer 16`, of 16 bits.
        case integer16
        /// `Integer 32`, of 32 bits.
        case integer32
        /// `Integer 64`, of 64 bits.
        case integer64
        /// `Decimal`, a number in base ten.
        case decimal
        /// `Double`.
        case double
        /// `Float`.
        case float
        /// `String`.
        case string
        /// `Boolean`.
        case boolean
        /// `Date`.
        case date
        /// `Binary`, bytes.
        case binary
        /// `UUID`.
        case uuid
        /// `URI`, a uniform resource identifier.
        case uri
        /// `Transformable`, any object that a transformer encodes.
        case transformable
        /// `Composite`, several attributes in one.
        case composite
        /// `Undefined`, which only transient attributes may have.
        case undefined
        /// `ObjectID`, the identity of an object of the store.
        case objectID
        /// An unknown type, by its name in the file or its number in an archive.
        case other(String)

        /// The type's name in model files.
        public var name: String {
            if case .other(let name) = self { return name }
            return Self.known.first { $0.type == self }?.name ?? ""
        }

        /// Creates a type from its name in model files.
        public init(name: String) {
            let name = name == "Object ID" ? "ObjectID" : name
            self = Self.known.first { $0.name == name }?.type ?? .other(name)
        }

        /// Creates a type from its number in archives, the raw value of `NSAttributeType`.
        init(number: Int64) {
            self = Self.known.first { $0.number == number }?.type ?? .other(String(number))
        }

        private static let known: [(type: Self, name: String, number: Int64)] = [
            (.undefined, "Undefined", 0), (.integer16, "Integer 16", 100),
            (.integer32, "Integer 32", 200), (.integer64, "Integer 64", 300),
            (.decimal, "Decimal", 400), (.double, "Double", 500), (.float, "Float", 600),
            (.string, "String", 700), (.boolean, "Boolean", 800), (.date, "Date", 900),
            (.binary, "Binary", 1000), (.uuid, "UUID", 1100), (.uri, "URI", 1200),
            (.transformable, "Transformable", 1800), (.objectID, "ObjectID", 2000),
            (.composite, "Composite", 2100),
        ]
    }
}
