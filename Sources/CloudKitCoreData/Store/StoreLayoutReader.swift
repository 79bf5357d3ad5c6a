import GRDB

/// A reader that finds the places of a model's parts in a store, and the differences between the two.
struct StoreLayoutReader {
    let model: CoreDataModel
    let database: Database
    let tables: StoreTables
    let stored: StoredEntities
    /// The caller's information about attributes whose values may be in files.
    let externalData: [String: Bool]
    let files: ExternalData

    var layout = StoreLayout()
    var differences: [String] = []
    /// The composite parts that only columns show.
    var additions: [Additions] = []

    init(
        _ model: CoreDataModel,
        _ database: Database,
        _ externalData: [String: Bool],
        _ files: ExternalData
    ) throws {
        self.model = model
        self.database = database
        self.externalData = externalData
        self.files = files
        tables = try StoreTables(database)
        stored = try StoredEntities(database, tables)
        layout.numbers = stored.numbers
    }

    /// Returns the layout.
    ///
    /// - Throws: ``CoreDataStoreError`` with the differences if the model is a different one.
    mutating func read(_ name: String) throws -> StoreLayout {
        let entities = compareEntities()
        for root in model.roots where entities.contains(root.name) { try addTable(root) }
        if differences.isEmpty { addJoins(entities) }
        guard differences.isEmpty else {
            var error = CoreDataStoreError(
                .differentModel,
                name,
                "the store was made with another model; give the version that the app used last"
            )
            error.differences = differences
            throw error
        }
        return layout
    }

    /// Returns the model with the composite parts that only columns show; nil if it lacks none.
    func completedModel() throws -> CoreDataModel? {
        guard !additions.isEmpty else { return nil }
        var entities = model.entities
        var composites = model.composites
        for found in additions {
            guard let place = entities.firstIndex(where: { $0.name == found.entity }) else {
                continue
            }
            guard let name = found.composite,
                let index = entities[place].attributes.firstIndex(where: { $0.name == name })
            else {
                let known = Set(entities[place].attributes.map(\.name))
                entities[place].attributes += found.parts.filter { !known.contains($0.name) }
                continue
            }
            var composite = CoreDataModel.Composite(name: "\(found.entity).\(name)")
            composite.attributes = found.parts
            composites.append(composite)
            entities[place].attributes[index].compositeName = composite.name
        }
        return try model.with(entities: entities, composites: composites)
    }

    // MARK: Entities

    /// Compares the entities, and returns those that the store has.
    private mutating func compareEntities() -> Set<String> {
        let found = Set(stored.entries.keys)
        let named = Set(model.entities.map(\.name))
        // A store of one configuration has only the configuration's entities.
        let configuration = model.configurations.first { configuration in
            let names = Set(configuration.entities)
            return names == found && names != named
        }
        let expected = configuration.map { Set($0.entities) } ?? named
        for name in expected.subtracting(found).sorted() {
            differences.append("\(name): the store has no such entity")
        }
        for name in found.subtracting(expected).sorted() {
            differences.append("\(name): the model has no such entity")
        }
        for name in expected.intersection(found).sorted() {
            guard let entity = model.entity(named: name), let entry = stored.entries[name] else {
                continue
            }
            let parent = entry.parent == 0 ? nil : stored.name(of: entry.parent)
            if parent != entity.parent {
                differences.append(
                    "\(name): its parent is \(entity.parent ?? "none"), in the store "
                        + (parent ?? "none")
                )
            }
        }
        return expected.intersection(found)
    }

    // MARK: Tables

    private mutating func addTable(_ root: CoreDataModel.Entity) throws {
        let name = "Z" + root.name.uppercased()
        guard let columns = tables.columns[name],
            columns.contains(where: { $0.name == "Z_PK" && $0.isKey && $0.type == "INTEGER" }),
            columns.contains(where: { $0.name == "Z_ENT" })
        else {
            differences.append("\(root.name): the store has no table \(name) with rows of it")
            return
        }
        var table = StoreLayout.Table(root: root, name: name)
        for entity in model.hierarchy(below: root) {
            if let number = stored.entries[entity.name]?.number { table.entities[number] = entity }
        }
        var assignment = ColumnAssignment(table, self)
        try assignment.assign()
        differences += assignment.differences
        layout.notes += assignment.notes
        if let found = assignment.additions { additions.append(found) }
        table.values = assignment.values
        table.links = assignment.links
        for link in table.links { noteOrder(of: link) }
        layout.tables.append(table)
    }

    // MARK: Many-to-many

    private mutating func addJoins(_ entities: Set<String>) {
        var taken: Set<String> = []
        for entity in model.entities where entities.contains(entity.name) {
            for relationship in entity.relationships
            where relationship.isToMany && !relationship.isTransient {
                guard let inverse = model.inverse(of: relationship) else {
                    layout.notes.append(
                        "\(entity.name).\(relationship.name): it has no inverse, and where the "
                            + "store keeps it is not known; its links are not converted"
                    )
                    continue
                }
                let inverseOwner = declaringEntity(of: inverse, relationship)
                guard inverse.isToMany,
                    CoreDataModel.Relationship.isFirst(
                        entity.name,
                        relationship.name,
                        inverseOwner,
                        inverse.name
                    )
                else { continue }
                guard
                    let join = join(entity, relationship, inverse, inverseOwner, &taken)
                else {
                    differences.append(
                        "\(entity.name).\(relationship.name): the store has no table for its links"
                    )
                    continue
                }
                layout.joins.append(join)
            }
        }
        noteOtherJoins(taken)
    }

    /// Reports tables of links that no relationship of the model has.
    private mutating func noteOtherJoins(_ taken: Set<String>) {
        let numbers = Set(layout.numbers.values)
        for table in tables.numbered where !taken.contains(table) {
            guard let name = NumberedName(table), numbers.contains(name.number) else { continue }
            let text = "\(table): the model has no relationship of this table"
            if model.isArchived { layout.notes.append(text) } else { differences.append(text) }
        }
    }

    /// Returns the entity that declares the inverse of a relationship.
    private func declaringEntity(
        of inverse: CoreDataModel.Relationship,
        _ relationship: CoreDataModel.Relationship
    ) -> String {
        model.owner(ofInverseOf: relationship) ?? relationship.destination
    }

    private mutating func join(
        _ entity: CoreDataModel.Entity,
        _ relationship: CoreDataModel.Relationship,
        _ inverse: CoreDataModel.Relationship,
        _ inverseOwner: String,
        _ taken: inout Set<String>
    ) -> StoreLayout.Join? {
        guard let other = model.entity(named: inverseOwner) else { return nil }
        let ends = (
            JoinEnd(entity: entity, relationship: relationship, model, layout.numbers),
            JoinEnd(entity: other, relationship: inverse, model, layout.numbers)
        )
        var candidates: [(table: String, columns: JoinColumns)] = []
        for table in tables.numbered where !taken.contains(table) {
            guard let name = NumberedName(table), ends.0.names(name) || ends.1.names(name),
                let columns = JoinColumns(tables.columns[table] ?? [], table, ends)
            else { continue }
            candidates.append((table, columns))
        }
        // Names without final digits first, because digits mark a second relationship with the name.
        guard let found = candidates.min(by: { $0.table.count < $1.table.count }) else {
            return nil
        }
        taken.insert(found.table)
        noteOrder(of: relationship, in: entity.name, found.columns.targetOrder)
        if relationship != inverse {
            noteOrder(of: inverse, in: inverseOwner, found.columns.ownerOrder)
        }
        return StoreLayout.Join(
            owner: entity.name,
            relationship: relationship,
            inverse: inverse,
            inverseOwner: inverseOwner,
            table: found.table,
            ownerColumn: found.columns.owner,
            targetColumn: found.columns.target,
            orderColumn: relationship.isOrdered ? found.columns.targetOrder : nil,
            inverseOrderColumn: inverse.isOrdered ? found.columns.ownerOrder : nil,
            ownerRoot: model.root(of: entity).name,
            targetRoot: model.root(of: other).name
        )
    }

    // MARK: Orders

    /// Reports whether the order of the objects with a link is in the model and the store alike.
    private mutating func noteOrder(of link: StoreLayout.Link) {
        guard let inverse = model.inverse(of: link.relationship), inverse.isToMany else { return }
        noteOrder(
            of: inverse,
            in: declaringEntity(of: inverse, link.relationship),
            link.orderColumn
        )
    }

    private mutating func noteOrder(
        of relationship: CoreDataModel.Relationship,
        in entity: String,
        _ column: String?
    ) {
        guard relationship.isOrdered != (column != nil) else { return }
        let place = "\(entity).\(relationship.name)"
        layout.notes.append(
            column.map {
                "\(place): the model says that it is not ordered; the order in the store's column \($0) is not converted"
            }
                ?? "\(place): the model says that it is ordered, and the store has no column with the order; its "
                + "positions are NULL"
        )
    }
}
