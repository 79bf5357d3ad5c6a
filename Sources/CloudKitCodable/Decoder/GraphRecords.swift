import CloudKit

/// The records of a graph that is being decoded, and the records that are known not to exist.
struct GraphRecords {
    private(set) var byID: [CKRecord.ID: CKRecord] = [:]

    /// The identities in the order in which the records were added.
    private(set) var order: [CKRecord.ID] = []

    /// `true` when missing records can be fetched; otherwise they do not exist.
    let isLoading: Bool

    private var absent: Set<CKRecord.ID> = []
    private var loaded: [GraphNeeds.Children: Set<CKRecord.ID>] = [:]

    /// The children of each owner, in their order, by the field that refers to the owner.
    private var childrenByField: [String: [CKRecord.ID: [CKRecord]]] = [:]

    init(_ records: some Sequence<CKRecord>, isLoading: Bool) {
        self.isLoading = isLoading
        for record in records { add(record) }
    }

    /// Adds a record, or a newer version of one.
    mutating func add(_ record: CKRecord) {
        if byID.updateValue(record, forKey: record.recordID) == nil {
            order.append(record.recordID)
        }
        childrenByField = [:]
    }

    /// Notes that a record does not exist.
    mutating func addAbsent(_ recordID: CKRecord.ID) { absent.insert(recordID) }

    /// Notes that all children of owners are here.
    mutating func noteLoaded(_ query: GraphNeeds.Children, for owners: [CKRecord.ID]) {
        loaded[query, default: []].formUnion(owners)
    }

    /// Returns whether a record is missing and may be fetched.
    func canFetch(_ recordID: CKRecord.ID) -> Bool {
        isLoading && byID[recordID] == nil && !absent.contains(recordID)
    }

    /// Returns whether the children of an owner may be fetched.
    func canFetch(_ query: GraphNeeds.Children, of owner: CKRecord.ID) -> Bool {
        isLoading && loaded[query]?.contains(owner) != true
    }

    /// Returns the records that refer to an owner through a field, in the order of their positions.
    mutating func children(of owner: CKRecord.ID, via field: String) -> [CKRecord] {
        if let byOwner = childrenByField[field] { return byOwner[owner] ?? [] }
        var byOwner: [CKRecord.ID: [CKRecord]] = [:]
        // In the order of arrival, which is often the right one.
        for recordID in order {
            guard let record = byID[recordID],
                let owner = record.field(field, as: CKRecord.Reference.self)?.recordID
            else { continue }
            byOwner[owner, default: []].append(record)
        }
        let position = field + RecordField.positionSuffix
        for (owner, children) in byOwner {
            byOwner[owner] = children.map { Placed($0, $0.field(position, as: Int.self) ?? .max) }
                .sorted { $0.precedes($1) }
                .map(\.record)
        }
        childrenByField[field] = byOwner
        return byOwner[owner] ?? []
    }

    /// A child and its position in the list.
    private struct Placed {
        let record: CKRecord
        let position: Int

        init(_ record: CKRecord, _ position: Int) {
            self.record = record
            self.position = position
        }

        func precedes(_ other: Placed) -> Bool {
            // Names are seldom needed, and cost more.
            if position != other.position { return position < other.position }
            return record.recordID.recordName < other.record.recordID.recordName
        }
    }
}
