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
    /// The fields as values to insert, where no row is there.
    var insertion: StatementArguments?
    /// The fields as bytes beside a row that was inserted so, with the file's words.
    var inserted: (base: Data, words: Words)?
    /// The words that the bytes would be shorter with.
    var missingWords: [String] = []
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

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - mapping: What its fields are.
    ///   - words: The file's words, for a record that may be inserted as it is.
    init(_ record: CKRecord, _ mapping: RowMapping, _ words: Words? = nil) {
        name = record.recordID.recordName
        type = record.recordType
        tag = record.recordChangeTag
        system = RecordArchive.data(record)
        parent = record.parent?.recordID.recordName
        share = record.share?.recordID.recordName
        let table = mapping.catalog.table(ofType: record.recordType)
        key = table.flatMap { RowKey(recordName: record.recordID.recordName, $0) }
        fields = Result { try mapping.fields(record, table) }
        if case .success(let fields) = fields, let key, let table {
            insertion = mapping.insertion(of: fields, key, table)
            if insertion != nil, let words { prepare(fields, table, words) }
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

    /// Makes the bytes of fields of which the row will have all that are columns.
    private mutating func prepare(
        _ fields: [String: StoreValue],
        _ table: TableSchema,
        _ words: Words
    ) {
        let known = KnownFields(fields)
        missingWords = known.missingWords(words)
        if let base = try? known.data(words, isInRow: { field, _ in table.keepsOnce(field) }) {
            inserted = (base, words)
        }
    }

    /// Whether the fields can be read.
    var isReadable: Bool { (try? fields.get()) != nil }

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
        let archived = record.archived()
        parent = archived?.parent?.recordID.recordName
        share = archived?.share?.recordID.recordName
        let kept = try record.baseFields().known
        fields = .success(table.map { mapping.current(kept, $0) } ?? kept)
    }
}
