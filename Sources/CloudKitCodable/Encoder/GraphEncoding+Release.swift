import CloudKit

// A child that is no longer in any list of its owner would still be found by its record's reference
// to the owner. A save therefore clears the reference and the parent.
extension GraphEncoding {
    /// The lists of children of a graph, and their current contents.
    struct OwnedLists {
        /// The children of a type that refer to an owner through a field.
        struct List: Hashable {
            let owner: CKRecord.ID
            let recordType: CKRecord.RecordType
            let field: String
        }

        private(set) var all: Set<List> = []

        /// The fields that refer to owners, by record type.
        private(set) var fields: [CKRecord.RecordType: Set<String>] = [:]

        /// The records that are in a list now, by field, and the owner of that list.
        private var placed: [String: [CKRecord.ID: CKRecord.ID]] = [:]

        /// The records in the list of each owner, by field, in their order.
        private(set) var orders: [String: [CKRecord.ID: [CKRecord]]] = [:]

        /// The records whose parent was set.
        var parented: Set<CKRecord.ID> = []

        mutating func add(_ list: List) {
            if all.insert(list).inserted { fields[list.recordType, default: []].insert(list.field) }
        }

        /// Notes that a record is in a list now.
        ///
        /// - Returns: The owner whose list already contains it, if any.
        mutating func place(
            _ recordID: CKRecord.ID,
            in owner: CKRecord.ID,
            via field: String
        ) -> CKRecord.ID? {
            placed[field, default: [:]].updateValue(owner, forKey: recordID)
        }

        /// Appends a record to a list that keeps its order.
        mutating func append(_ record: CKRecord, to owner: CKRecord.ID, via field: String) {
            orders[field, default: [:]][owner, default: []].append(record)
        }

        /// Returns whether a record is in a list now, whoever the owner is.
        func holds(_ recordID: CKRecord.ID, via field: String) -> Bool {
            placed[field]?[recordID] != nil
        }
    }

    /// Notes that a value determines which records of a type refer to it through a field.
    func noteList(of owner: CKRecord.ID, _ recordType: CKRecord.RecordType, via field: String) {
        lists.add(OwnedLists.List(owner: owner, recordType: recordType, field: field))
    }

    /// Clears the references of known records to owners whose lists no longer contain them.
    func releaseFormerChildren() {
        guard !known.isEmpty else { return }
        for (recordID, old) in known {
            for field in lists.fields[old.recordType] ?? [] {
                release(recordID, old, via: field)
            }
        }
        releaseFormerTargets()
        for release in former { self.release(release) }
    }

    /// Clears a known record's reference to an owner in another graph.
    private func release(_ release: GraphRelease) {
        let recordID = release.recordID
        guard let old = known[recordID] else { return }
        let current = entries[recordID]?.record ?? released[recordID] ?? old
        guard let field = release.field else {
            guard current.parent?.recordID == release.owner, !lists.parented.contains(recordID),
                let record = edited(recordID, old)
            else { return }
            return clearParent(release.owner, of: record)
        }
        let owner = current.field(field, as: CKRecord.Reference.self)?.recordID
        guard owner == release.owner, !lists.holds(recordID, via: field),
            let record = edited(recordID, old)
        else { return }
        record.setObject(nil, forKey: field)
        record.clear(field + RecordField.positionSuffix, unlessAbsent: true)
        clearParent(release.owner, of: record)
    }

    private func release(_ recordID: CKRecord.ID, _ old: CKRecord, via field: String) {
        let record = entries[recordID]?.record ?? released[recordID] ?? old
        guard let owner = record.field(field, as: CKRecord.Reference.self)?.recordID,
            lists.all.contains(.init(owner: owner, recordType: old.recordType, field: field)),
            !lists.holds(recordID, via: field), let record = edited(recordID, old)
        else { return }
        releases.insert(GraphRelease(recordID: recordID, field: field, owner: owner))
        record.setObject(nil, forKey: field)
        record.clear(field + RecordField.positionSuffix, unlessAbsent: true)
        clearParent(owner, of: record)
    }

    /// Clears the parents of records to which an owner no longer refers, if it was their parent.
    private func releaseFormerTargets() {
        var hierarchies: [ObjectIdentifier: [String]] = [:]
        for (ownerID, entry) in entries {
            guard let old = known[ownerID] else { continue }
            let type = type(of: entry.value)
            let fields = hierarchies[ObjectIdentifier(type)] ?? Self.hierarchies(of: type)
            hierarchies[ObjectIdentifier(type)] = fields
            for field in fields {
                let current = Set(entry.record.references(field).map(\.recordID))
                for target in old.references(field).map(\.recordID) where !current.contains(target)
                {
                    guard let record = known[target], record.parent?.recordID == ownerID,
                        !lists.parented.contains(target), let record = edited(target, record)
                    else { continue }
                    releases.insert(
                        GraphRelease(recordID: target, field: nil, owner: ownerID)
                    )
                    clearParent(ownerID, of: record)
                }
            }
        }
    }

    /// Returns the fields whose targets have the record with the field as their parent.
    private static func hierarchies(of type: Any.Type) -> [String] {
        (TypeTraits.of(type).model?.fields.byKey ?? [:]).compactMap { key, field in
            guard case .reference(_, isHierarchy: true)? = field.relation else { return nil }
            return field.name ?? key
        }
    }

    private func clearParent(_ owner: CKRecord.ID, of record: CKRecord) {
        guard record.parent?.recordID == owner, !lists.parented.contains(record.recordID) else {
            return
        }
        record.parent = nil
    }

    /// Returns the record of a graph's model, or a copy of a known record, to be changed.
    private func edited(_ recordID: CKRecord.ID, _ old: CKRecord) -> CKRecord? {
        if let record = entries[recordID]?.record ?? released[recordID] { return record }
        let copy = old.copy() as? CKRecord
        released[recordID] = copy
        return copy
    }
}

/// A known record's reference to an owner that no longer has it.
struct GraphRelease: Hashable, Sendable {
    let recordID: CKRecord.ID

    /// The field that refers to the owner; nil when the owner is only the record's parent.
    let field: String?

    let owner: CKRecord.ID
}
