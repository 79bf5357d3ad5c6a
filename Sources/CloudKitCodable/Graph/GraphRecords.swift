import CloudKit

/// The records of a graph that is decoded, and what is known not to exist.
struct GraphRecords {
    private(set) var byID: [CKRecord.ID: CKRecord] = [:]

    /// The identities in the order in which the records came.
    private(set) var order: [CKRecord.ID] = []

    /// Whether what is not here can be fetched; else it does not exist.
    let isLoading: Bool

    private var absent: Set<CKRecord.ID> = []
    private var answered: [GraphNeeds.Children: Set<CKRecord.ID>] = [:]

    /// For each field that refers to an owner: the children of each owner, in their order.
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

    /// Notes that the children of owners are all here.
    mutating func addAnswer(_ query: GraphNeeds.Children, for owners: [CKRecord.ID]) {
        answered[query, default: []].formUnion(owners)
    }

    /// Whether a record is not here and may be fetched.
    func canFetch(_ recordID: CKRecord.ID) -> Bool {
        isLoading && byID[recordID] == nil && !absent.contains(recordID)
    }

    /// Whether the children of an owner may be fetched.
    func canFetch(_ query: GraphNeeds.Children, of owner: CKRecord.ID) -> Bool {
        isLoading && answered[query]?.contains(owner) != true
    }

    /// The records that refer to an owner through a field, in the order of their positions.
    mutating func children(of owner: CKRecord.ID, via field: String) -> [CKRecord] {
        if let byOwner = childrenByField[field] { return byOwner[owner] ?? [] }
        var byOwner: [CKRecord.ID: [CKRecord]] = [:]
        for record in byID.values {
            if let reference = record.field(field, as: CKRecord.Reference.self) {
                byOwner[reference.recordID, default: []].append(record)
            }
        }
        let position = field + GraphEncoding.positionSuffix
        for (owner, children) in byOwner {
            byOwner[owner] = children.map { ($0.field(position, as: Int.self) ?? .max, $0) }
                .sorted { ($0.0, $0.1.recordID.recordName) < ($1.0, $1.1.recordID.recordName) }
                .map(\.1)
        }
        childrenByField[field] = byOwner
        return byOwner[owner] ?? []
    }
}
