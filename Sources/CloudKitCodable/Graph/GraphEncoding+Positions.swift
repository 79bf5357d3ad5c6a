import CloudKit

// The order of a list of children is a number in each child's record. Gaps between the numbers ensure
// that inserting or moving a child sends only its own record.
extension GraphEncoding {
    /// The suffix that the name of a child's position field adds to that of the owner's reference.
    static let positionSuffix = "_position"

    /// Sets the position of every child of an ordered list.
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
    /// Sets a field, unless it already has this value.
    func set<Value: CKRecordValueProtocol & Equatable>(_ value: Value, _ name: String) {
        if field(name, as: Value.self) != value { self[name] = value }
    }
}
