import CloudKit

extension CloudKitFieldKey {
    /// The use of a field in a query.
    enum Purpose: String {
        case comparison = "be compared"
        case order = "be sorted by"
    }

    /// Returns the name of the field in a query.
    ///
    /// - Throws: ``CloudKitQueryError`` for a property that CloudKit does not search.
    func searchable(
        for purpose: Purpose
    ) throws(CloudKitQueryError) -> CKRecord.FieldKey where Model: CloudKitModel {
        func refusal(_ reason: String) -> CloudKitQueryError {
            CloudKitQueryError(Model.recordType, property, reason)
        }
        if case .children(let field, _, _)? = options?.relation {
            throw refusal("the records of its values refer to this one; search them by \(field)")
        }
        switch options?.storage {
        case .encrypted?:
            throw refusal("it is encrypted, and the service cannot read what it stores")
        case .asset?: throw refusal("it is a file, which cannot \(purpose.rawValue)")
        case .json?: throw refusal("it is stored as JSON bytes, which cannot \(purpose.rawValue)")
        case .ignored?: throw refusal("it is ignored, and no field of the record")
        case .recordName?:
            throw refusal("it is the record's name; compare .recordID with a CKRecord.ID")
        case nil, .automatic?: return name
        }
    }

    /// The names of the fields that hold the property's value in the record.
    var stored: [CKRecord.FieldKey] {
        if case .children? = options?.relation { return [] }
        switch options?.storage {
        case .recordName?, .ignored?: return []
        case .asset(let size)? where size >= 0: return [name, name + RecordField.assetSuffix]
        default: return [name]
        }
    }
}
