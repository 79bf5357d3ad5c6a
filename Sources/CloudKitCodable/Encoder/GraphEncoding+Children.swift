import CloudKit

// Models whose records refer to their owners.
extension GraphEncoding {
    /// A model whose record refers to its owner, which must be encoded first.
    struct Child {
        let node: GraphNode
        let owner: CKRecord.ID
        let relation: CloudKitField.Relation?
        let position: Int?
        let location: CodingLocation
    }

    /// Adds a model whose record refers to its owner; it is encoded after the owner.
    func addChild(
        _ node: GraphNode,
        owner: CKRecord.ID,
        relation: CloudKitField.Relation?,
        position: Int?,
        at location: CodingLocation
    ) {
        if repetitions.isComparing {
            guard relation != nil else { return }
            repetitions.children.append((node.recordName, position))
            repetitions.nodes.append((node, location))
            return
        }
        children.append(
            Child(
                node: node,
                owner: owner,
                relation: relation,
                position: position,
                location: location
            )
        )
    }

    func encode(_ child: Child) throws {
        let owners = ownFields.owners(for: child)
        let recordID = try encode(child.node, at: child.location, owners: owners)
        guard let record = entries[recordID]?.record else { return }
        if case .children(let field, let action, let isHierarchy) = child.relation {
            try ownFields.check(child, field, record, owners)
            if let owner = lists.place(recordID, in: child.owner, via: field) {
                throw secondPlace(of: record, owner, child)
            }
            let former = record.field(field, as: CKRecord.Reference.self)?.recordID
            if former != child.owner {
                record.clear(field + RecordField.positionSuffix, unlessAbsent: true)
            }
            record.set(CKRecord.Reference(recordID: child.owner, action: action), field)
            if child.position != nil { lists.append(record, to: child.owner, via: field) }
            if isHierarchy { setParent(child.owner, of: record) }
        } else {
            setParent(child.owner, of: record)
        }
    }

    /// Returns the error for a child that is in two lists, or twice in one.
    private func secondPlace(
        of record: CKRecord,
        _ owner: CKRecord.ID,
        _ child: Child
    ) -> CloudKitGraphError {
        CloudKitGraphError(
            .identityClash,
            owner == child.owner
                ? """
                the value is twice among the children of \(owner.recordName), and would be there \
                once when it is loaded
                """
                : """
                the value is in the lists of two owners, \(owner.recordName) and \
                \(child.owner.recordName); a child has one
                """,
            type: record.recordType,
            id: record.recordID,
            path: child.location.path
        )
    }

    private func setParent(_ owner: CKRecord.ID, of record: CKRecord) {
        record.setParent(owner)
        lists.parented.insert(record.recordID)
    }
}

// The order of a list of children is a number in each child's record. Gaps between the numbers ensure
// that inserting or moving a child sends only its own record.
extension GraphEncoding {
    /// Sets the position of every child of an ordered list.
    func setPositions() {
        for (field, owners) in lists.orders {
            let name = field + RecordField.positionSuffix
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
