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
        /// `URI`, an address.
        case uri
        /// `Transformable`, any object by way of a transformer.
        case transformable
        /// `Composite`, several attributes in one.
        case composite
        /// `Undefined`, which only transient attributes may be.
        case undefined
        /// `ObjectID`, the identity of an object of the store.
        case objectID
        /// A type that is not known here, by its name in the file, or by its number in an archive.
        case other(String)

        /// The type's name in model files.
        public var name: String {
            if case .other(let name) = self { return name }
            return Self.known.first { $0.type == self }?.name ?? ""
        }

        /// The type of a name in model files.
        public init(name: String) {
            let name = name == "Object ID" ? "ObjectID" : name
            self = Self.known.first { $0.name == name }?.type ?? .other(name)
        }

        /// The type of a number in archives, as `NSAttributeType` has them.
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
