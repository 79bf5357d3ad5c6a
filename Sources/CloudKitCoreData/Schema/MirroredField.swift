import CloudKitCodable

/// A field that Core Data makes in CloudKit.
struct MirroredField: Hashable {
    /// What follows the name of a field whose value went into a file.
    static let companionSuffix = "_ckAsset"

    /// Why a record type has a field.
    enum Role: Hashable {
        /// It holds an attribute.
        case attribute
        /// It holds the name of the record that a relationship leads to.
        case relationship
        /// It takes the value of another field where that is large.
        case companion
        /// Every type has it.
        case fixed
        /// Sharing needs it.
        case sharing
        /// CloudKit itself has it.
        case system
    }

    var name: String
    var type: String
    var role: Role
    /// The entity and property that it is for.
    var place = ""
    /// Indexes other than those that development makes by itself.
    var neededIndexes: [String] = []

    /// The indexes that a field gets in development.
    var indexes: [String] {
        if !neededIndexes.isEmpty || role == .system { return neededIndexes }
        switch type {
        case "STRING": return ["QUERYABLE", "SEARCHABLE", "SORTABLE"]
        case "INT64", "DOUBLE", "TIMESTAMP", "BYTES": return ["QUERYABLE", "SORTABLE"]
        default: return []
        }
    }

    /// The field and its type as the schema language writes them.
    var text: String { "\(name) \(type)" }

    /// The field as a part of a schema.
    var field: CloudKitSchema.Field {
        CloudKitSchema.Field(name: name, type: type, indexes: indexes)
    }
}

extension MirroredField {
    /// Whether CloudKit takes a name, with what Core Data puts around it.
    static func isName(_ name: String) -> Bool {
        let longest = 255 - "CD_".utf8.count - companionSuffix.utf8.count
        return name.utf8.count <= longest
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// The fields of an attribute: none, its own, or its own and that of large values.
    static func fields(of attribute: CoreDataModel.Attribute, in entity: String) -> [Self] {
        guard attribute.isMirrored, let kind = Self.kind(of: attribute.type) else { return [] }
        let place = "\(entity).\(attribute.name)"
        let name = "CD_" + attribute.name
        let field = Self(
            name: name,
            type: attribute.isEncryptedInCloudKit ? "ENCRYPTED \(kind.type)" : kind.type,
            role: .attribute,
            place: place
        )
        guard kind.grows else { return [field] }
        let companion = Self(
            name: name + companionSuffix,
            type: "ASSET",
            role: .companion,
            place: place
        )
        return [field, companion]
    }

    /// The CloudKit type of an attribute's values, and whether they can be too large for a record.
    private static func kind(
        of type: CoreDataModel.AttributeType
    ) -> (type: String, grows: Bool)? {
        switch type {
        case .integer16, .integer32, .integer64, .boolean: ("INT64", false)
        case .double, .float, .decimal: ("DOUBLE", false)
        case .date: ("TIMESTAMP", false)
        case .uuid: ("STRING", false)
        case .string, .uri: ("STRING", true)
        case .binary, .transformable, .composite: ("BYTES", true)
        case .undefined, .objectID, .other: nil
        }
    }

    /// What every type of Core Data's has.
    static let fixed = [
        Self(name: "CD_entityName", type: "STRING", role: .fixed),
        Self(name: "CD_moveReceipt", type: "BYTES", role: .sharing),
        Self(name: "CD_moveReceipt_ckAsset", type: "ASSET", role: .sharing),
    ]

    /// What every type has.
    static func system(_ database: CoreDataMirroring.Database) -> [Self] {
        // Core Data asks the public database for records by the time of their last change.
        let isQueried = database == .public
        return [
            Self(name: "___createTime", type: "TIMESTAMP", role: .system),
            Self(name: "___createdBy", type: "REFERENCE", role: .system),
            Self(name: "___etag", type: "STRING", role: .system),
            Self(
                name: "___modTime",
                type: "TIMESTAMP",
                role: .system,
                neededIndexes: isQueried ? ["QUERYABLE", "SORTABLE"] : []
            ),
            Self(name: "___modifiedBy", type: "REFERENCE", role: .system),
            Self(
                name: "___recordID",
                type: "REFERENCE",
                role: .system,
                neededIndexes: isQueried ? ["QUERYABLE"] : []
            ),
        ]
    }
}
