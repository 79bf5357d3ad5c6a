import CloudKit
import Foundation

/// A record from the server, read before the database is asked for anything.
struct RemoteRecord {
    var name: String
    var type: String
    var tag: String?
    var system: Data
    /// The fields, or why they cannot be read.
    var fields: Result<[String: StoreValue], any Error>
    /// The names of the record above it in a shared tree, and of its share.
    var parent: String?
    var share: String?
    /// The files of the assets, by field.
    var files: [String: URL] = [:]
    /// When the server had it, in microseconds.
    var modified: Int64?
    /// Keeps the assets' files while the record is in use.
    var record: CKRecord?

    init(_ record: CKRecord, _ mapping: RowMapping) {
        name = record.recordID.recordName
        type = record.recordType
        tag = record.recordChangeTag
        system = RecordArchive.data(record)
        parent = record.parent?.recordID.recordName
        share = record.share?.recordID.recordName
        let table = mapping.catalog.table(ofType: record.recordType)
        fields = Result { try mapping.fields(record, table) }
        modified = record.modificationDate.map { Int64($0.timeIntervalSince1970 * 1_000_000) }
        self.record = record
        for column in table?.columns ?? [] where column.form == .asset {
            let object =
                column.isEncrypted
                ? record.encryptedValues.object(forKey: column.field)
                : record.object(forKey: column.field)
            if let asset = object as? CKAsset { files[column.field] = asset.fileURL }
        }
    }

    /// A record that was kept, as it came.
    init(kept record: KnownRecord) throws {
        name = record.recordName
        type = record.type
        tag = record.tag
        system = record.system ?? Data()
        let archived = record.system.flatMap(RecordArchive.record)
        parent = archived?.parent?.recordID.recordName
        share = archived?.share?.recordID.recordName
        fields = .success(try record.baseFields())
    }
}
