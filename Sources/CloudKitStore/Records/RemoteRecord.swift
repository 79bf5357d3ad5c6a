import CloudKit
import Foundation
import GRDB

/// A record from the server, read before the database is asked for anything.
struct RemoteRecord {
    var name: String
    var type: String
    /// The key that the name has in the table of the type.
    var key: RowKey?
    var tag: String?
    var system: Data
    /// The fields, or why they cannot be read.
    var fields: Result<[String: StoreValue], any Error>
    /// The fields as bytes; nil when they cannot be read.
    var base: Data?
    /// The fields as values to insert, where no row is there.
    var insertion: StatementArguments?
    /// The names of the record above it in a shared tree, and of its share.
    var parent: String?
    var share: String?
    /// The files of the assets, by field.
    var files: [String: URL] = [:]
    /// When the server had it, in microseconds.
    var modified: Int64?
    /// Keeps the assets' files while the record is in use.
    var record: CKRecord?
    /// Whether nothing was read but name and tag, because the file has the version already.
    var isUnread = false

    init(_ record: CKRecord, _ mapping: RowMapping) {
        name = record.recordID.recordName
        type = record.recordType
        tag = record.recordChangeTag
        system = RecordArchive.data(record)
        parent = record.parent?.recordID.recordName
        share = record.share?.recordID.recordName
        let table = mapping.catalog.table(ofType: record.recordType)
        key = table.flatMap { RowKey(recordName: record.recordID.recordName, $0) }
        fields = Result { try mapping.fields(record, table) }
        if case .success(let fields) = fields {
            base = FieldCoding.data(fields)
            if let key, let table { insertion = mapping.insertion(of: fields, key, table) }
        }
        modified = record.modificationDate.map { Int64($0.timeIntervalSince1970 * 1_000_000) }
        self.record = record
        for column in table?.assetColumns ?? [] {
            let object =
                column.isEncrypted
                ? record.encryptedValues.object(forKey: column.field)
                : record.object(forKey: column.field)
            if let asset = object as? CKAsset { files[column.field] = asset.place }
        }
    }

    /// A record whose version the file had when it came; it is read only if it no longer has.
    init(unread record: CKRecord) {
        name = record.recordID.recordName
        type = record.recordType
        tag = record.recordChangeTag
        system = Data()
        fields = .success([:])
        isUnread = true
        self.record = record
    }

    /// A record that was kept, as it came.
    init(kept record: KnownRecord, _ mapping: RowMapping) throws {
        let table = mapping.catalog.table(ofType: record.type)
        name = record.recordName
        type = record.type
        key = table.flatMap { RowKey(recordName: record.recordName, $0) }
        tag = record.tag
        system = record.system ?? Data()
        let archived = record.system.flatMap(RecordArchive.record)
        parent = archived?.parent?.recordID.recordName
        share = archived?.share?.recordID.recordName
        let kept = try record.baseFields()
        let current = table.map { mapping.current(kept, $0) } ?? kept
        fields = .success(current)
        base = FieldCoding.data(current)
    }
}
