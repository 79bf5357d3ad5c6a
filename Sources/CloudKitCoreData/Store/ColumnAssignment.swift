import GRDB

/// Parts of composites that have columns but are missing in the model.
struct Additions {
    var entity: String
    /// The attribute that they belong to; nil if it may be one of several.
    var composite: String?
    var parts: [CoreDataModel.Attribute]
}

/// The assignment of columns in the root's table to the properties of a hierarchy.
///
/// A column is called `Z` and the property's name in upper case. If several entities declare a
/// name, or several composites have a part with the same name, digits follow in the order of the
/// entities' numbers: none, 1, 2, …
struct ColumnAssignment {
    /// A property with a column.
    private struct Property {
        var owner: CoreDataModel.Entity
        var path: [String]
        /// The attribute; nil for a to-one end.
        var attribute: CoreDataModel.Attribute?
        var relationship: CoreDataModel.Relationship?

        var base: String { "Z" + (path.last ?? "").uppercased() }
        var description: String { "\(owner.name).\(path.joined(separator: "."))" }
    }

    private let table: StoreLayout.Table
    private let reader: StoreLayoutReader
    private let columns: [String: StoreTables.Column]
    private var model: CoreDataModel { reader.model }

    private(set) var values: [StoreLayout.Value] = []
    private(set) var links: [StoreLayout.Link] = []
    private(set) var differences: [String] = []
    private(set) var notes: [String] = []
    private(set) var additions: Additions?
    /// Composites whose parts are missing in the model.
    private var openComposites: [Property] = []

    init(_ table: StoreLayout.Table, _ reader: StoreLayoutReader) {
        self.table = table
        self.reader = reader
        columns = Dictionary(
            (reader.tables.columns[table.name] ?? []).map { ($0.name, $0) }
        ) { first, _ in first }
    }

    mutating func assign() throws {
        let properties = try properties()
        var taken: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
        let expected = properties.map { Self.free($0.base, &taken) }
        var found: [String?] =
            expected.allSatisfy { columns[$0] != nil } ? expected : byDigits(properties)
        for base in Set(properties.map(\.base)).sorted() {
            let group = properties.indices.filter { properties[$0].base == base }
            if group.count > 1 { try settle(group, properties, &found) }
        }
        for (property, column) in zip(properties, found) {
            guard let column, let declared = columns[column] else {
                differences.append(
                    "\(property.description): \(table.name) has no column \(property.base)"
                )
                continue
            }
            try add(property, declared)
        }
        noteRest(Set(found.compactMap(\.self)))
    }

    private static func free(_ base: String, _ taken: inout Set<String>) -> String {
        var (name, digit) = (base, 0)
        while !taken.insert(name).inserted {
            digit += 1
            name = base + String(digit)
        }
        return name
    }

    // MARK: Properties

    /// Returns the properties with columns, in the order in which Core Data names the columns.
    private mutating func properties() throws -> [Property] {
        var found: [Property] = []
        for (_, entity) in table.entities.sorted(by: { $0.key < $1.key }) {
            let inherited = Set(
                model.ancestors(of: entity).flatMap {
                    $0.attributes.map(\.name) + $0.relationships.map(\.name)
                }
            )
            var own: [Property] = []
            for attribute in entity.attributes
            where !attribute.isTransient && !inherited.contains(attribute.name) {
                own.append(Property(owner: entity, path: [attribute.name], attribute: attribute))
            }
            for relationship in entity.relationships
            where !relationship.isTransient && !relationship.isToMany
                && !inherited.contains(relationship.name)
            {
                own.append(
                    Property(owner: entity, path: [relationship.name], relationship: relationship)
                )
            }
            for property in own.sorted(by: { $0.path[0] < $1.path[0] }) {
                found += try leaves(property)
            }
        }
        return found
    }

    /// Returns the parts of a composite, or the property itself.
    private mutating func leaves(_ property: Property) throws -> [Property] {
        guard let attribute = property.attribute else { return [property] }
        switch attribute.type {
        case .composite:
            guard let name = attribute.compositeName, let composite = model.composite(named: name)
            else {
                openComposites.append(property)
                return []
            }
            var found: [Property] = []
            for part in composite.attributes where !part.isTransient {
                var leaf = property
                leaf.path.append(part.name)
                leaf.attribute = part
                found += try leaves(leaf)
                guard found.count <= columns.count + 1 else {
                    throw CoreDataStoreError(
                        .differentModel,
                        property.description,
                        "its composite has more parts than \(table.name) has columns"
                    )
                }
            }
            return found
        case .undefined, .objectID, .other:
            notes.append(
                "\(property.description): values of the type \(attribute.type.name) are not "
                    + "converted"
            )
            return []
        default: return [property]
        }
    }

    // MARK: Digits

    /// Returns the columns by name and digits; some may differ from the expected ones.
    private func byDigits(_ properties: [Property]) -> [String?] {
        var found = [String?](repeating: nil, count: properties.count)
        let bases = Set(properties.map(\.base))
        for base in bases {
            let group = properties.indices.filter { properties[$0].base == base }
            let names = columns.keys.filter { name in
                name == base || !bases.contains(name) && Self.digits(name, after: base) != nil
            }
            let ordered = names.sorted {
                Self.digits($0, after: base) ?? 0 < Self.digits($1, after: base) ?? 0
            }
            guard ordered.count == group.count else { continue }
            for (index, name) in zip(group, ordered) { found[index] = name }
        }
        return found
    }

    private static func digits(_ name: String, after base: String) -> Int? {
        guard name.hasPrefix(base) else { return nil }
        let rest = name.dropFirst(base.count)
        guard !rest.isEmpty, rest.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        return Int(rest)
    }

    /// Uses the rows to assign ambiguous columns, because migrations leave other orders.
    private func settle(
        _ group: [Int],
        _ properties: [Property],
        _ found: inout [String?]
    ) throws {
        let names = group.compactMap { found[$0] }
        guard names.count == group.count else { return }
        var uses: [String: Set<Int64>] = [:]
        for name in names { uses[name] = try entities(using: name) }
        let owners = group.map { place in
            StoreLayout.numbers(below: properties[place].owner, model, reader.layout.numbers)
        }
        func fits(_ owner: Int, _ name: String) -> Bool {
            guard let column = columns[name] else { return false }
            return (uses[name] ?? []).isSubset(of: owners[owner])
                && Self.fits(properties[group[owner]], column)
        }
        if zip(group.indices, names).allSatisfy({ fits($0, $1) }) { return }
        let orders = Self.assignments(names, count: 2, fits)
        guard orders.count == 1 else {
            throw CoreDataStoreError(
                .differentModel,
                table.name,
                "which of the columns \(names.joined(separator: ", ")) belongs to which property is unclear "
                    + "from the rows; give the version of the model that the app used last"
            )
        }
        for (place, name) in zip(group, orders[0]) { found[place] = name }
    }

    /// Returns up to `count` orders of names in which each fits its position.
    private static func assignments(
        _ names: [String],
        count: Int,
        _ fits: (Int, String) -> Bool
    ) -> [[String]] {
        guard names.count <= 8 else { return [] }
        var orders: [[String]] = [[]]
        for place in names.indices {
            orders = orders.flatMap { order in
                names.filter { !order.contains($0) && fits(place, $0) }.map { order + [$0] }
            }
        }
        return Array(orders.prefix(count))
    }

    private func entities(using column: String) throws -> Set<Int64> {
        let values = try DatabaseValue.fetchCursor(
            reader.database,
            sql: """
                SELECT DISTINCT Z_ENT FROM main.\(table.name.quotedName) NOT INDEXED
                WHERE \(column.quotedName) NOTNULL
                """
        )
        var found: Set<Int64> = []
        while let value = try values.next() {
            guard case .int64(let number) = value.storage else { continue }
            found.insert(number)
        }
        return found
    }

    // MARK: Types

    /// The column types that Core Data declares.
    private static let declaredTypes: Set<String> = [
        "INTEGER", "FLOAT", "DECIMAL", "TIMESTAMP", "VARCHAR", "BLOB",
    ]

    private static func fits(_ property: Property, _ column: StoreTables.Column) -> Bool {
        guard declaredTypes.contains(column.type) else { return true }
        guard let attribute = property.attribute else { return column.type == "INTEGER" }
        switch attribute.type {
        case .integer16, .integer32, .integer64, .boolean: return column.type == "INTEGER"
        case .double, .float: return column.type == "FLOAT"
        case .decimal: return column.type == "DECIMAL"
        case .date: return column.type == "TIMESTAMP"
        case .string: return ["VARCHAR", "BLOB"].contains(column.type)
        case .uri: return column.type == "VARCHAR"
        case .uuid, .binary, .transformable: return column.type == "BLOB"
        case .composite, .undefined, .objectID, .other: return true
        }
    }

    // MARK: Results

    private mutating func add(_ property: Property, _ column: StoreTables.Column) throws {
        // Core Data itself wrote the types in a store's copy of the model, so the values are
        // checked instead.
        guard model.isArchived || Self.fits(property, column) else {
            let type = property.attribute?.type.name ?? "relationship"
            differences.append(
                "\(property.description): it is a \(type), and its column is \(column.type)"
            )
            return
        }
        let numbers = StoreLayout.numbers(below: property.owner, model, reader.layout.numbers)
        if let attribute = property.attribute {
            var value = StoreLayout.Value(
                owner: property.owner.name,
                path: property.path,
                attribute: attribute,
                column: column.name,
                numbers: numbers
            )
            value.isExternal = try ExternalDataQuestion(reader, table.name, value).isExternal()
            values.append(value)
        } else if let relationship = property.relationship,
            let target = model.entity(named: relationship.destination)
        {
            let order = "Z_FOK_" + column.name.dropFirst()
            links.append(
                StoreLayout.Link(
                    owner: property.owner.name,
                    relationship: relationship,
                    column: column.name,
                    orderColumn: columns[order] == nil ? nil : order,
                    target: model.root(of: target).name,
                    numbers: numbers
                )
            )
        }
    }

    /// Reports columns without a property: parts of composites that are missing in the model, or a
    /// sign of another model.
    private mutating func noteRest(_ taken: Set<String>) {
        let rest = columns.values.filter { column in
            !taken.contains(column.name) && column.name.hasPrefix("Z")
                && !column.name.hasPrefix("Z_") && !Self.isEntityColumn(column.name)
        }
        .sorted { $0.name < $1.name }
        guard let composite = openComposites.first else {
            for column in rest {
                let text = "\(table.root.name): the model has no property of \(column.name)"
                if model.isArchived { notes.append(text) } else { differences.append(text) }
            }
            return
        }
        let parts = rest.map { column in
            var attribute = CoreDataModel.Attribute(
                name: String(column.name.dropFirst()).lowercased(),
                type: Self.type(declared: column.type)
            )
            attribute.isOptional = true
            return attribute
        }
        let isOnly = openComposites.count == 1
        if !parts.isEmpty {
            additions = Additions(
                entity: isOnly ? composite.owner.name : table.root.name,
                composite: isOnly ? composite.path[0] : nil,
                parts: parts
            )
        }
        notes.append(
            openComposites.map(\.description).joined(separator: ", ")
                + ": the names of the parts are not in the model; they are those of the columns"
        )
    }

    /// Returns whether a column holds the entities of a to-one relationship's targets, such as
    /// `Z2_MEDIA`.
    private static func isEntityColumn(_ name: String) -> Bool {
        let rest = name.dropFirst()
        let digits = rest.prefix { ("0"..."9").contains($0) }
        return !digits.isEmpty && rest.dropFirst(digits.count).first == "_"
    }

    private static func type(declared: String) -> CoreDataModel.AttributeType {
        switch declared {
        case "INTEGER": .integer64
        case "FLOAT": .double
        case "DECIMAL": .decimal
        case "TIMESTAMP": .date
        case "VARCHAR": .string
        default: .binary
        }
    }
}
