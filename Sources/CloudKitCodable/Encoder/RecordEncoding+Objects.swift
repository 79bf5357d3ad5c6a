import CloudKit
import Foundation

// Values that are objects in a record: references, locations, lists of them, files.
extension RecordEncoding {
    /// Stores an object, unless the field already holds it.
    func storeObject(_ object: any CKRecordValue, _ field: RecordField) throws {
        try check(field.name, field.key)
        let isEncrypted = field.options?.storage == .encrypted
        if isEncrypted, object is CKAsset || object is CKRecord.Reference {
            throw error(
                object,
                field.key,
                "CloudKit does not encrypt \(CodingProblem.typeName(of: object)) fields"
            )
        }
        if let problem = Self.problem(object) { throw error(object, field.key, problem) }
        let store = store(field)
        if baseline == .values, let old = store.object(forKey: field.name),
            CKRecord.isSame(old, object)
        {
            return
        }
        store.setObject(object, forKey: field.name)
    }

    /// Stores a web address as text and a file as an asset.
    func store(_ url: URL, _ field: RecordField) throws {
        if url.isFileURL {
            try storeObject(try asset(of: url, field), field)
        } else {
            try store(url.absoluteString, field)
        }
    }

    /// Stores a wrapped native value.
    func storeNative(_ value: some Encodable, _ field: RecordField) throws {
        if let object = (value as? any NativeField)?.object {
            try storeObject(object, field)
        } else {
            try clear(field)
        }
    }

    /// Stores a reference to a model.
    func storeReference(_ value: some Encodable, _ field: RecordField) throws {
        guard let reference = value as? any ReferenceField else { return }
        try storeObject(try target(of: reference, field), field)
    }

    /// Returns a reference to a model as a record holds it.
    func target(
        of reference: any ReferenceField,
        _ field: RecordField
    ) throws
        -> CKRecord.Reference
    {
        if let problem = FieldName.problem(recordName: reference.recordName) {
            throw error(reference, field.key, "cannot refer to the target: \(problem)")
        }
        let recordID = CKRecord.ID(
            recordName: reference.recordName,
            zoneID: record.recordID.zoneID
        )
        return CKRecord.Reference(recordID: recordID, action: reference.action)
    }

    // MARK: Files

    /// Stores a value of a type with its own files.
    func storeAssetValue(_ value: some Encodable, _ field: RecordField) throws {
        guard let value = value as? any CloudKitAssetValue else { return }
        try storeObject(try file(of: value, field), field)
    }

    /// Returns a value of a type with its own files as an asset.
    func file(of value: any CloudKitAssetValue, _ field: RecordField) throws -> CKAsset {
        try assets.asset(of: try value.encoded(), named: value.filename)
    }

    /// Stores bytes, or the JSON of a value, beside the record when they are larger than a size.
    func storeAsset(of value: some Encodable, above size: Int, _ field: RecordField) throws {
        if let url = value as? URL {
            // A file is an asset anyway, whatever its size.
            if url.isFileURL { return try storeObject(try asset(of: url, field), field) }
            throw error(url, field.key, "is not a file, which .asset requires; leave .asset out")
        }
        let data = try (value as? Data) ?? bytes(of: value, field)
        if !(value is Data) { try checkFiles(in: value, data, field) }
        let isFile = data.count > size
        let inline = RecordField(name: field.name, key: field.key, options: nil)
        let file = RecordField(
            name: size < 0 ? field.name : field.name + RecordField.assetSuffix,
            key: field.key,
            options: nil
        )
        if isFile {
            let name = "\(record.recordID.recordName)-\(field.name)"
            try storeObject(try assets.asset(of: data, named: name), file)
        } else {
            try store(data, inline)
        }
        // Only one of the two fields has a value.
        if size >= 0 { try clear(isFile ? inline : file) }
    }
}
