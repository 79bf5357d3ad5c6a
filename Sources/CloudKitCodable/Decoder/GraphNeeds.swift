import CloudKit

/// The records that the decoding of a graph requested and lacked, to be fetched before it continues.
struct GraphNeeds {
    /// The children of an owner: records of a type that refer to it through a field.
    struct Children: Hashable {
        let recordType: CKRecord.RecordType
        let field: String
    }

    /// Records and the types as which they may be decoded, in order.
    private(set) var records: [(recordID: CKRecord.ID, types: [any CloudKitModel.Type])] = []

    /// Children and their owners, in order.
    private(set) var children:
        [(query: Children, type: any CloudKitModel.Type, owners: [CKRecord.ID])] = []

    private var noted: Set<CKRecord.ID> = []
    private var notedOwners: [Children: Set<CKRecord.ID>] = [:]

    var isEmpty: Bool { records.isEmpty && children.isEmpty }

    /// Adds a record.
    mutating func add(_ recordID: CKRecord.ID, _ types: [any CloudKitModel.Type]) {
        if noted.insert(recordID).inserted { records.append((recordID, types)) }
    }

    /// Adds the children of an owner.
    mutating func add(
        childrenOf owner: CKRecord.ID,
        _ type: any CloudKitModel.Type,
        via field: String
    ) {
        let query = Children(recordType: type.recordType, field: field)
        guard notedOwners[query, default: []].insert(owner).inserted else { return }
        if let index = children.firstIndex(where: { $0.query == query }) {
            children[index].owners.append(owner)
        } else {
            children.append((query, type, [owner]))
        }
    }

    /// The signal that ends the decoding of a value that needs a record that is not loaded yet.
    ///
    /// The value's own code may catch it: the need is noted, and the value is decoded again.
    struct Signal: Error, CustomStringConvertible {
        var description: String { "a record is not loaded yet; decoding is repeated with it" }
    }
}
