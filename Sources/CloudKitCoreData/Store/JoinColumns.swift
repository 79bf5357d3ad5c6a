/// An end of a many-to-many relationship, as it appears in names of tables and columns.
struct JoinEnd {
    let relationship: CoreDataModel.Relationship
    /// The numbers that may represent the entity: its own, and those of its hierarchy.
    private let own: Int64?
    private let all: Set<Int64>

    init(
        entity: CoreDataModel.Entity,
        relationship: CoreDataModel.Relationship,
        _ model: CoreDataModel,
        _ numbers: [String: Int64]
    ) {
        self.relationship = relationship
        own = numbers[entity.name]
        all = StoreLayout.numbers(below: model.root(of: entity), model, numbers)
    }

    /// Returns whether a name consists of a number of the entity and its relationship.
    func names(_ name: NumberedName) -> Bool {
        all.contains(name.number) && name.isOf(relationship.name)
    }

    /// Returns whether a column holds the targets of this end's relationship, which are rows of the
    /// other end.
    func isLed(to name: NumberedName, of other: JoinEnd) -> Bool {
        other.all.contains(name.number) && name.isOf(relationship.name)
    }
}

/// The two columns of a many-to-many relationship's table, with those of its order.
///
/// A column with the name of a relationship holds the relationship's targets.
struct JoinColumns {
    /// The other column of a relationship that is its own inverse.
    private static let reflexive = "REFLEXIVE"

    let owner: String
    let target: String
    let ownerOrder: String?
    let targetOrder: String?

    init?(_ columns: [StoreTables.Column], _ table: String, _ ends: (JoinEnd, JoinEnd)) {
        let plain = columns.map(\.name).filter { !$0.hasPrefix("Z_FOK_") }
        guard plain.count == 2 else { return nil }
        let isItself = ends.0.relationship == ends.1.relationship
        var found: (owner: String, target: String, exactness: Int)?
        for (owner, target) in [(plain[0], plain[1]), (plain[1], plain[0])] {
            guard let targetName = NumberedName(target),
                ends.0.isLed(to: targetName, of: ends.1)
            else { continue }
            var exactness = targetName.rest == ends.0.relationship.name.uppercased() ? 1 : 0
            if let ownerName = NumberedName(owner), ends.1.isLed(to: ownerName, of: ends.0) {
                exactness += ownerName.rest == ends.1.relationship.name.uppercased() ? 1 : 0
            } else if !isItself || owner != Self.reflexive {
                continue
            }
            if exactness > found?.exactness ?? -1 { found = (owner, target, exactness) }
        }
        guard let found else { return nil }
        owner = found.owner
        target = found.target
        func order(of column: String) -> String? {
            columns.map(\.name).first { $0 == "Z_FOK_" + column.dropFirst(2) }
        }
        ownerOrder = order(of: owner)
        targetOrder = order(of: target)
    }
}
