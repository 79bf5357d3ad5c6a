import CloudKit

// The order of a list of children is a number in each child's record. The numbers have room between
// them, so that a child that is inserted or moved sends its own record alone.
extension GraphEncoding {
    /// What the name of a child's position has behind that of the reference to its owner.
    static let positionSuffix = "_position"

    /// Gives every child of an ordered list its position.
    func setPositions() {
        for (field, owners) in lists.orders {
            let name = field + Self.positionSuffix
            for children in owners.values {
                let former = children.map {
                    ListPositions.Former($0.field(name, as: Int.self), $0.recordID.recordName)
                }
                for (child, position) in zip(children, ListPositions.positions(keeping: former)) {
                    child.set(position, name)
                }
            }
        }
    }
}

extension CKRecord {
    /// Sets a field, unless it has this value.
    func set<Value: CKRecordValueProtocol & Equatable>(_ value: Value, _ name: String) {
        if field(name, as: Value.self) != value { self[name] = value }
    }
}
