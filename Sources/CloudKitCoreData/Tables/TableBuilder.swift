import Foundation

/// A builder of a model's tables.
struct TableBuilder {
    /// A property with a column.
    private struct Property {
        var owner: CoreDataModel.Entity
        var path: [String]
        var attribute: CoreDataModel.Attribute?
        var relationship: CoreDataModel.Relationship?
    }

    static let key = "recordName"
    static let entity = "entity"

    private let model: CoreDataModel
    private let entities: Set<String>
    private var names = FreeNames(RecordTableNames.records, RecordTableNames.zones)
    private var tableNames: [String: String] = [:]
    private var result = CoreDataTables()

    init(_ model: CoreDataModel, _ entities: Set<String>?) {
        self.model = model
        self.entities = entities ?? Set(model.entities.map(\.name))
    }

    mutating func tables() -> CoreDataTables {
        let roots = model.roots.filter { entities.contains($0.name) }
        for root in roots { tableNames[root.name] = names.take(root.name) }
        for root in roots { result.tables.append(table(root)) }
        for entity in model.entities where entities.contains(entity.name) { addJoins(entity) }
        for table in result.tables { addIndexes(table) }
        return result
    }

    // MARK: Columns

    private mutating func table(_ root: CoreDataModel.Entity) -> CoreDataTables.Table {
        let hierarchy = model.hierarchy(below: root).filter { entities.contains($0.name) }
        var columnNames = FreeNames()
        var columns = [Self.keyColumn(columnNames.take(Self.key))]
        if hierarchy.count > 1 {
            columns.append(
                CoreDataTables.Column(
                    name: columnNames.take(Self.entity),
                    content: .entity,
                    owners: [],
                    definition: "TEXT NOT NULL"
                )
            )
        }
        let properties = hierarchy.flatMap(properties)
        let groups = Dictionary(grouping: properties) { $0.path.joined(separator: ".") }
        var places: [String: Int] = [:]
        for property in properties {
            let key = property.path.joined(separator: ".")
            let kinds = Set((groups[key] ?? []).map(kind))
            if kinds.count == 1, let place = places[key] {
                columns[place].owners.append(property.owner.name)
                if columns[place].content.isLink,
                    columns.indices.contains(place + 1),
                    case .position(property.path[0]) = columns[place + 1].content
                {
                    columns[place + 1].owners.append(property.owner.name)
                }
                continue
            }
            let spelled = property.path.joined(separator: "_")
            let name = kinds.count == 1 ? spelled : "\(property.owner.name)_\(spelled)"
            places[key] = columns.count
            add(property, columnNames.take(name), root, &columns, &columnNames)
        }
        return CoreDataTables.Table(
            name: tableNames[root.name] ?? root.name,
            root: root.name,
            columns: columns
        )
    }

    private static func keyColumn(_ name: String) -> CoreDataTables.Column {
        CoreDataTables.Column(
            name: name,
            content: .recordName,
            owners: [],
            definition: "TEXT PRIMARY KEY NOT NULL"
        )
    }

    /// Returns the properties with columns that an entity declares: attributes, then to-one ends.
    private func properties(_ entity: CoreDataModel.Entity) -> [Property] {
        let inherited = Set(
            model.ancestors(of: entity).flatMap {
                $0.attributes.map(\.name) + $0.relationships.map(\.name)
            }
        )
        let attributes = entity.attributes
            .filter { !$0.isTransient && !inherited.contains($0.name) }
            .map { Property(owner: entity, path: [$0.name], attribute: $0) }
            .flatMap(leaves)
        let links = entity.relationships.filter {
            !$0.isTransient && !$0.isToMany && !inherited.contains($0.name)
                && target(of: $0) != nil
        }
        return attributes
            + links.map { Property(owner: entity, path: [$0.name], relationship: $0) }
    }

    private func leaves(_ property: Property) -> [Property] {
        guard let attribute = property.attribute else { return [property] }
        switch attribute.type {
        case .composite:
            guard let name = attribute.compositeName, let composite = model.composite(named: name)
            else { return [] }
            return composite.attributes.filter { !$0.isTransient }.flatMap { part in
                var leaf = property
                leaf.path.append(part.name)
                leaf.attribute = part
                return leaves(leaf)
            }
        case .undefined, .objectID, .other: return []
        default: return [property]
        }
    }

    /// Returns the table that a relationship leads to.
    private func target(of relationship: CoreDataModel.Relationship) -> String? {
        model.entity(named: relationship.destination).flatMap {
            tableNames[model.root(of: $0).name]
        }
    }

    /// Returns the characteristics that must match for entities to share a column.
    private func kind(_ property: Property) -> String {
        if let attribute = property.attribute { return attribute.type.columnType }
        guard let relationship = property.relationship else { return "" }
        let isOrdered = model.inverse(of: relationship)?.isOrdered == true
        return "\(target(of: relationship) ?? "") \(deletion(relationship)) \(isOrdered)"
    }

    private mutating func add(
        _ property: Property,
        _ name: String,
        _ root: CoreDataModel.Entity,
        _ columns: inout [CoreDataTables.Column],
        _ columnNames: inout FreeNames
    ) {
        if let attribute = property.attribute {
            columns.append(column(attribute, property, name, root))
            if attribute.isDerived {
                result.notes.append(
                    "\(property.owner.name).\(attribute.name): it is no longer computed; the "
                        + "column keeps what the store has"
                )
            }
        } else if let relationship = property.relationship, let target = target(of: relationship) {
            columns.append(
                CoreDataTables.Column(
                    name: name,
                    content: .link(relationship: relationship.name, table: target),
                    owners: [property.owner.name],
                    definition: "TEXT \(reference(to: target, deletion(relationship)))"
                )
            )
            if model.inverse(of: relationship)?.isOrdered == true {
                columns.append(
                    CoreDataTables.Column(
                        name: columnNames.take("\(name)_position"),
                        content: .position(relationship: relationship.name),
                        owners: [property.owner.name],
                        definition: "INTEGER"
                    )
                )
            }
            noteRule(relationship, property.owner)
        }
    }

    private func column(
        _ attribute: CoreDataModel.Attribute,
        _ property: Property,
        _ name: String,
        _ root: CoreDataModel.Entity
    ) -> CoreDataTables.Column {
        var definition = attribute.type.columnType
        var defaultValue: CoreDataValue?
        let isOfAll = property.owner.name == root.name && property.path.count == 1
        if isOfAll, let value = attribute.defaultValue, value.isOf(attribute.type),
            let literal = value.literal
        {
            if !attribute.isOptional {
                definition += " NOT NULL"
                defaultValue = value
            }
            definition += " DEFAULT \(literal)"
        }
        return CoreDataTables.Column(
            name: name,
            content: .value(attribute.type, path: property.path.joined(separator: ".")),
            owners: [property.owner.name],
            definition: definition,
            defaultValue: defaultValue
        )
    }

    // MARK: Relationships

    /// Returns the SQL action on a row when its relationship's target is deleted.
    private func deletion(_ relationship: CoreDataModel.Relationship) -> String {
        switch model.inverse(of: relationship)?.deleteRule {
        case .cascade: "CASCADE"
        case .deny: "RESTRICT"
        case .noAction: "NO ACTION"
        case .nullify, nil: "SET NULL"
        }
    }

    private func reference(to table: String, _ deletion: String) -> String {
        "REFERENCES \(table.quotedName) (\(Self.key.quotedName)) ON DELETE \(deletion) "
            + "DEFERRABLE INITIALLY DEFERRED"
    }

    /// Reports a to-one end's rule that acts when its own row is deleted, which no foreign key does.
    private mutating func noteRule(
        _ relationship: CoreDataModel.Relationship,
        _ owner: CoreDataModel.Entity
    ) {
        guard [.cascade, .deny].contains(relationship.deleteRule),
            model.inverse(of: relationship)?.isToMany != false
        else { return }
        result.notes.append(
            "\(owner.name).\(relationship.name): no foreign key keeps its rule "
                + "\(relationship.deleteRule.name); do in the app what it did"
        )
    }

    private mutating func addJoins(_ entity: CoreDataModel.Entity) {
        for relationship in entity.relationships
        where relationship.isToMany && !relationship.isTransient {
            guard let inverse = model.inverse(of: relationship), inverse.isToMany,
                let inverseOwner = model.owner(ofInverseOf: relationship),
                CoreDataModel.Relationship.isFirst(
                    entity.name,
                    relationship.name,
                    inverseOwner,
                    inverse.name
                ),
                let owner = tableNames[model.root(of: entity).name],
                let target = target(of: relationship)
            else { continue }
            addJoin(entity, relationship, inverse, of: inverseOwner, from: owner, to: target)
        }
    }

    private mutating func addJoin(
        _ entity: CoreDataModel.Entity,
        _ relationship: CoreDataModel.Relationship,
        _ inverse: CoreDataModel.Relationship,
        of inverseOwner: String,
        from owner: String,
        to target: String
    ) {
        let isItself = entity.name == inverseOwner && relationship.name == inverse.name
        let name = names.take("\(entity.name)_\(relationship.name)")
        var columnNames = FreeNames()
        var columns = [Self.keyColumn(columnNames.take(Self.key))]
        let targetName = columnNames.take(relationship.name)
        let ownerName = columnNames.take(
            isItself ? "\(relationship.name)_inverse" : inverse.name
        )
        func end(
            _ name: String,
            _ leading: CoreDataModel.Relationship,
            _ table: String,
            _ rule: CoreDataModel.DeleteRule
        ) -> CoreDataTables.Column {
            CoreDataTables.Column(
                name: name,
                content: .link(relationship: leading.name, table: table),
                owners: [],
                definition: "TEXT NOT NULL "
                    + reference(to: table, rule == .deny ? "RESTRICT" : "CASCADE")
            )
        }
        columns.append(end(ownerName, inverse, owner, relationship.deleteRule))
        columns.append(end(targetName, relationship, target, inverse.deleteRule))
        for (leading, column) in [(relationship, targetName), (inverse, ownerName)]
        where leading.isOrdered && !(isItself && column == ownerName) {
            columns.append(
                CoreDataTables.Column(
                    name: columnNames.take("\(column)_position"),
                    content: .position(relationship: leading.name),
                    owners: [],
                    definition: "INTEGER"
                )
            )
        }
        result.joins.append(
            CoreDataTables.JoinTable(
                name: name,
                owner: entity.name,
                relationship: relationship.name,
                inverseOwner: inverseOwner,
                inverse: inverse.name,
                columns: columns
            )
        )
        // Not unique: two devices may make one link at once, and deleting either record removes the link elsewhere.
        addIndex(
            "\(name)_\(ownerName)_index",
            name,
            [ownerName.quotedName, targetName.quotedName]
        )
        addIndex("\(name)_\(targetName)_index", name, [targetName.quotedName])
        for (leading, of) in [(relationship, entity.name), (inverse, inverseOwner)]
        where leading.deleteRule == .cascade {
            result.notes.append(
                "\(of).\(leading.name): no foreign key keeps its rule Cascade; do in the app "
                    + "what it did"
            )
        }
    }

    // MARK: Indexes

    private mutating func addIndex(
        _ name: String,
        _ table: String,
        _ columns: [String],
        constraint: String? = nil,
        condition: String? = nil
    ) {
        result.indexes.append(
            CoreDataTables.Index(
                name: names.take(name),
                table: table,
                isUnique: constraint != nil,
                columns: columns,
                condition: condition,
                constraint: constraint
            )
        )
    }

    private mutating func addIndexes(_ table: CoreDataTables.Table) {
        for column in table.columns {
            switch column.content {
            case .link:
                addIndex("\(table.name)_\(column.name)_index", table.name, [column.name.quotedName])
            case .entity:
                addIndex("\(table.name)_entity_index", table.name, [column.name.quotedName])
            default: break
            }
        }
        guard let root = model.entity(named: table.root) else { return }
        for entity in model.hierarchy(below: root) where entities.contains(entity.name) {
            addIndexes(of: entity, table)
        }
    }

    private mutating func addIndexes(
        of entity: CoreDataModel.Entity,
        _ table: CoreDataTables.Table
    ) {
        func column(_ property: String) -> String? {
            table.column(of: property, in: entity, model)?.name.quotedName
        }
        for index in entity.fetchIndexes {
            let columns = index.elements.compactMap { element -> String? in
                guard !element.isRTree, let name = element.property.flatMap(column) else {
                    return nil
                }
                return element.isAscending ? name : name + " DESC"
            }
            guard columns.count == index.elements.count, !columns.isEmpty else {
                result.notes.append(
                    "\(entity.name): the index \(index.name) has an expression or a kind that "
                        + "is not converted"
                )
                continue
            }
            addIndex("\(entity.name)_\(index.name)", table.name, columns)
        }
        for attribute in entity.attributes where attribute.isIndexed {
            if let name = column(attribute.name) {
                addIndex("\(entity.name)_\(attribute.name)_index", table.name, [name])
            }
        }
        for properties in entity.compoundIndexes {
            let columns = properties.compactMap(column)
            guard columns.count == properties.count, !columns.isEmpty else { continue }
            addIndex(
                "\(entity.name)_\(properties.joined(separator: "_"))_index",
                table.name,
                columns
            )
        }
        for properties in entity.uniquenessConstraints {
            let columns = properties.compactMap(column)
            guard columns.count == properties.count, !columns.isEmpty else {
                result.notes.append(
                    "\(entity.name): the constraint of \(properties.joined(separator: ", ")) is "
                        + "not converted"
                )
                continue
            }
            let names = model.hierarchy(below: entity).map(\.name.literal)
            addIndex(
                "\(entity.name)_unique_\(properties.joined(separator: "_"))",
                table.name,
                columns,
                constraint: "\(entity.name).\(properties.joined(separator: ", "))",
                condition: entity.parent == nil
                    ? nil : "\(Self.entity.quotedName) IN (\(names.joined(separator: ", ")))"
            )
        }
    }
}

extension CoreDataTables.Column.Content {
    var isLink: Bool { if case .link = self { true } else { false } }
}

extension CoreDataModel.AttributeType {
    /// The declared type of a column for the values.
    var columnType: String {
        switch self {
        case .integer16, .integer32, .integer64: "INTEGER"
        case .boolean: "BOOLEAN"
        case .double, .float: "DOUBLE"
        case .date: "DATETIME"
        case .decimal, .string, .uuid, .uri: "TEXT"
        case .binary, .transformable, .composite, .undefined, .objectID, .other: "BLOB"
        }
    }
}
