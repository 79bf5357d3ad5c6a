/// The record types that Core Data's full schema initialization creates from a model.
struct MirroredSchema {
    /// The type of the records that link objects of many-to-many relationships.
    static let linkType = "CDMR"
    /// CloudKit's own types.
    static let (shareType, usersType) = ("cloudkit.share", "Users")

    /// A record type.
    struct RecordType {
        var name: String
        /// The entities whose objects are stored in its records.
        var entities: [String] = []
        /// The fields by name.
        var fields: [String: MirroredField] = [:]

        /// The system's fields, then the others by name.
        var sortedFields: [MirroredField] {
            fields.values.sorted {
                ($0.role == .system ? 0 : 1, $0.name) < ($1.role == .system ? 0 : 1, $1.name)
            }
        }
    }

    /// Two properties that need the same field in different ways.
    struct Conflict: Hashable {
        var recordType: String
        var first: MirroredField
        var second: MirroredField

        var message: String {
            let holder = first.place.isEmpty ? "Core Data itself" : first.place
            return "\(recordType).\(first.name) would be \(first.type) for \(holder) and "
                + "\(second.type) for \(second.place): the entities of a hierarchy are one record type"
        }
    }

    /// The types by name.
    private(set) var types: [String: RecordType] = [:]
    private(set) var conflicts: [Conflict] = []

    init(_ model: CoreDataModel, _ mirroring: CoreDataMirroring) throws(CoreDataModelError) {
        let members = Set(
            try model.entities(ofConfiguration: mirroring.configuration).map(\.name)
        )
        var hasLinks = false
        for root in model.roots {
            let hierarchy = model.hierarchy(below: root).filter { members.contains($0.name) }
            guard !hierarchy.isEmpty else { continue }
            var type = RecordType(name: "CD_" + root.name, entities: hierarchy.map(\.name))
            for field in MirroredField.fixed + MirroredField.system(mirroring.database) {
                type.fields[field.name] = field
            }
            // Members of a configuration have their parents' properties even if those are not members.
            let above = hierarchy.flatMap { model.ancestors(of: $0) }
            var seen: Set<String> = []
            for entity in above + hierarchy where seen.insert(entity.name).inserted {
                add(entity, to: &type)
                hasLinks =
                    hasLinks
                    || entity.relationships.contains {
                        !$0.isTransient && model.isManyToMany($0)
                    }
            }
            types[type.name] = type
        }
        if hasLinks { add(Self.links(mirroring.database)) }
        if mirroring.isShared { add(Self.share) }
        add(Self.users)
    }

    private mutating func add(_ type: RecordType) { types[type.name] = type }

    private mutating func add(_ entity: CoreDataModel.Entity, to type: inout RecordType) {
        let attributes = entity.attributes.flatMap { MirroredField.fields(of: $0, in: entity.name) }
        let links = entity.relationships.filter { !$0.isToMany && !$0.isTransient }.map {
            MirroredField(
                name: "CD_" + $0.name,
                type: "STRING",
                role: .relationship,
                place: "\(entity.name).\($0.name)"
            )
        }
        for field in attributes + links {
            guard let known = type.fields[field.name] else {
                type.fields[field.name] = field
                continue
            }
            if known.type != field.type || [.fixed, .sharing].contains(known.role)
                || (known.role == .companion) != (field.role == .companion)
            {
                conflicts.append(
                    Conflict(recordType: type.name, first: known, second: field)
                )
            }
        }
    }

    // MARK: Types that are the same for every model

    private static func type(
        _ name: String,
        _ database: CoreDataMirroring.Database,
        _ fields: [(name: String, type: String)],
        _ role: MirroredField.Role
    ) -> RecordType {
        var type = RecordType(name: name)
        let own = fields.map { MirroredField(name: $0.name, type: $0.type, role: role) }
        for field in own + MirroredField.system(database) { type.fields[field.name] = field }
        return type
    }

    private static func links(_ database: CoreDataMirroring.Database) -> RecordType {
        type(
            linkType,
            database,
            ["CD_entityNames", "CD_recordNames", "CD_relationships"].map { ($0, "STRING") },
            .fixed
        )
    }

    private static let share = type(
        shareType,
        .private,
        [
            ("cloudkit.title", "STRING"), ("cloudkit.type", "STRING"),
            ("cloudkit.thumbnailImageData", "BYTES"),
        ],
        .share
    )

    private static let users = type(usersType, .private, [("roles", "LIST<INT64>")], .system)
}
