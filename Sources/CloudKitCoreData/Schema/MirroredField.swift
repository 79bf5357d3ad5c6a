import CloudKitCodable

/// A field that Core Data creates in CloudKit.
struct MirroredField: Hashable {
    /// The suffix of the field that holds a large value as an asset.
    static let companionSuffix = "_ckAsset"

    /// The purpose of a field.
    enum Role: Hashable {
        /// It holds an attribute.
        case attribute
        /// It holds the record name of a relationship's target.
        case relationship
        /// It holds the value of another field if that is large.
        case companion
        /// Every type has it.
        case fixed
        /// Sharing requires it.
        case sharing
        /// CloudKit keeps a detail of shares in it.
        case share
        /// CloudKit defines it.
        case system
    }

    var name: String
    var type: String
    var role: Role
    /// The entity and property of the field.
    var place = ""
    /// The required indexes, besides those that development creates automatically.
    var neededIndexes: [String] = []

    /// The indexes that a field gets in development.
    var indexes: [String] {
        if !neededIndexes.isEmpty || [.system, .share].contains(role) { return neededIndexes }
        switch type {
        case "STRING": return ["QUERYABLE", "SEARCHABLE", "SORTABLE"]
        case "INT64", "DOUBLE", "TIMESTAMP", "BYTES": return ["QUERYABLE", "SORTABLE"]
        default: return []
        }
    }

    /// The field and its type in the schema language.
    var text: String { "\(name) \(type)" }

    /// The field as a part of a schema.
    var field: CloudKitSchema.Field {
        CloudKitSchema.Field(name: name, type: type, indexes: indexes)
    }
}

extension MirroredField {
    /// Returns whether CloudKit accepts a name with Core Data's additions.
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

    /// Returns the fields of an attribute: none, its own, or its own and that of large values.
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

    /// Returns the CloudKit type of an attribute's values, and whether they can be too large for a record.
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

    /// The fields of every Core Data record type.
    static let fixed = [
        Self(name: "CD_entityName", type: "STRING", role: .fixed),
        Self(name: "CD_moveReceipt", type: "BYTES", role: .sharing),
        Self(name: "CD_moveReceipt_ckAsset", type: "ASSET", role: .sharing),
    ]

    /// Returns the system fields of every record type.
    static func system(_ database: CoreDataMirroring.Database) -> [Self] {
        // Core Data queries the public database by modification date.
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
