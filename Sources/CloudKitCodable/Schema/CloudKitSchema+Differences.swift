extension CloudKitSchema {
    /// A difference between a deployed schema and the schema that models need.
    public enum Difference: Sendable, Equatable, CustomStringConvertible {
        /// A record type that is not deployed.
        case missingType(String)
        /// A field that is not deployed.
        case missingField(String, type: String, recordType: String)
        /// A field that is deployed with another type, which cannot be changed.
        case otherType(String, needed: String, deployed: String, recordType: String)
        /// An index that loading needs and that is not deployed.
        case missingIndex(String, field: String, recordType: String)

        /// The difference and its remedy.
        public var description: String {
            switch self {
            case .missingType(let type): "\(type) is not in the schema: add the record type"
            case .missingField(let field, let type, let recordType):
                "\(recordType).\(field) is not in the schema: add \(field) \(type)"
            case .otherType(let field, let needed, let deployed, let recordType):
                """
                \(recordType).\(field) is \(deployed) in the schema, the model needs \(needed): \
                types of fields cannot be changed, give the property another field
                """
            case .missingIndex(let index, let field, let recordType):
                "\(recordType).\(field) has no \(index) index in the schema"
            }
        }
    }

    /// Returns what a deployed schema lacks of this one, in order; additional parts of it are no
    /// difference.
    public func differences(from deployed: CloudKitSchema) -> [Difference] {
        recordTypes.flatMap { needed -> [Difference] in
            guard let type = deployed.recordTypes.first(where: { $0.name == needed.name }) else {
                return [.missingType(needed.name)]
            }
            return needed.fields.flatMap { Self.differences($0, type) }
        }
    }

    private static func differences(_ needed: Field, _ type: RecordType) -> [Difference] {
        guard let field = type.fields.first(where: { $0.name == needed.name }) else {
            return [.missingField(needed.name, type: needed.type, recordType: type.name)]
        }
        guard field.type == needed.type else {
            return [
                .otherType(
                    needed.name,
                    needed: needed.type,
                    deployed: field.type,
                    recordType: type.name
                )
            ]
        }
        return needed.indexes.filter { !field.indexes.contains($0) }
            .map { .missingIndex($0, field: needed.name, recordType: type.name) }
    }
}
