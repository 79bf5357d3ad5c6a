import CloudKit

// A record name identifies one record. Two values with one name must be the same value; otherwise encoding
// throws before anything is sent, because one of them would be lost silently.
extension GraphEncoding {
    /// The values that were met again under a name and have yet to be compared.
    struct Repetitions {
        var nodes: [(node: GraphNode, location: CodingLocation)] = []

        /// `true` while nodes are encoded only to be compared.
        var isComparing = false

        /// The children of the node that is being compared.
        var children: [(recordName: String, position: Int?)] = []

        /// The children of every node, by owner.
        var childrenByOwner: [CKRecord.ID: [Child]] = [:]

        /// The instances of classes that were compared; this ends cycles.
        var seen: Set<ObjectIdentifier> = []
    }

    /// Checks that two paths to one record lead to the same value; complete values are needed to
    /// decide.
    func check(_ node: GraphNode, is entry: Entry, _ location: CodingLocation) throws {
        try checkType(of: node, entry, location)
        if !isCopy(node.value, of: entry.value) { repetitions.nodes.append((node, location)) }
    }

    private func checkType(
        of node: GraphNode,
        _ entry: Entry,
        _ location: CodingLocation
    ) throws {
        guard entry.record.recordType != node.recordType else { return }
        throw clash(
            node,
            entry,
            location,
            "a \(entry.record.recordType) at \(entry.location.text) has the same record name; "
                + "names are unique in a zone, across types"
        )
    }

    /// Returns whether a value is obviously a copy of another: the same instance of a class, or equal
    /// bytes.
    ///
    /// Other values are encoded and compared. Equality is not enough, because a type may compare
    /// nothing but an identifier.
    private func isCopy<Value>(_ value: Value, of other: Any) -> Bool {
        if Value.self is AnyClass { return (value as AnyObject) === (other as AnyObject) }
        guard let other = other as? Value else { return false }
        return withUnsafeBytes(of: value) { bytes in
            withUnsafeBytes(of: other) { $0.elementsEqual(bytes) }
        }
    }

    /// Encodes values that were met again onto the records of their names, once these are complete,
    /// and throws if anything differs.
    func compareRepetitions() throws {
        guard !repetitions.nodes.isEmpty else { return }
        repetitions.childrenByOwner = Dictionary(
            grouping: children.filter { $0.relation != nil },
            by: \.owner
        )
        var next = 0
        while next < repetitions.nodes.count {
            let (node, location) = repetitions.nodes[next]
            next += 1
            if type(of: node.value) is AnyClass,
                !repetitions.seen.insert(ObjectIdentifier(node.value as AnyObject)).inserted
            {
                continue
            }
            try compare(node, location)
        }
    }

    private func compare(_ node: GraphNode, _ location: CodingLocation) throws {
        let recordID = try Self.identity(of: node, in: zoneID, at: location)
        guard let entry = entries[recordID], !isCopy(node.value, of: entry.value) else { return }
        try checkType(of: node, entry, location)
        guard let copy = entry.record.copy() as? CKRecord else { return }
        let encoding = RecordEncoding(
            record: copy,
            baseline: .values,
            forms: .native,
            userInfo: userInfo,
            options: node.fields,
            graph: self,
            location: location
        )
        repetitions.isComparing = true
        repetitions.children = []
        defer { repetitions.isComparing = false }
        try encode(node, encoding)
        if let field = encoding.record.firstDifference(
            from: entry.record,
            isSame: { CKRecord.isSame($1, $0) }
        ) {
            throw difference(node, entry, location, " in the field \(field)")
        }
        let children = repetitions.childrenByOwner[recordID] ?? []
        let isSame = children.elementsEqual(repetitions.children) {
            $0.node.recordName == $1.recordName && $0.position == $1.position
        }
        if !isSame { throw difference(node, entry, location, " in the models that refer to them") }
    }

    private func difference(
        _ node: GraphNode,
        _ entry: Entry,
        _ location: CodingLocation,
        _ place: String
    ) -> CloudKitGraphError {
        clash(
            node,
            entry,
            location,
            "the value at \(entry.location.text) has this record name too, and the two differ"
                + "\(place); they would be one record: give one of them another name, or make them "
                + "equal"
        )
    }

    private func clash(
        _ node: GraphNode,
        _ entry: Entry,
        _ location: CodingLocation,
        _ problem: String
    ) -> CloudKitGraphError {
        CloudKitGraphError(
            .identityClash,
            problem,
            type: node.recordType,
            id: entry.record.recordID,
            path: location.path
        )
    }
}
