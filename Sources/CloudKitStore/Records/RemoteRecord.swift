import CloudKit
import Foundation
import GRDB

/// A record from the server, decoded before the database is read.
struct RemoteRecord {
    var name: String
    var type: String
    /// The table that holds it; nil for a record that this version of the app does not know.
    var table: TableSchema?
    /// The key that the name denotes in the table.
    var key: RowKey?
    var tag: String?
    var system: Data
    /// The fields, or the error of reading them.
    var fields: Result<[String: StoreValue], any Error>
    /// The fields as insertion values, for a new row.
    var insertion: StatementArguments?
    /// The fields as bytes relative to a row with these values, with the file's words.
    var inserted: (base: Data, words: Words)?
    /// The words that would shorten the bytes.
    var missingWords: [String] = []
    /// The names of the record above it in a shared tree, and of its share.
    var parent: String?
    var share: String?
    /// The files of the assets, by field.
    var files: [String: URL] = [:]
    /// The time at which the server received it, in microseconds.
    var modified: Int64?
    /// The record, which keeps the assets' files while it is in use.
    var record: CKRecord?
    /// `true` when only name and tag were read, because the file already has the version.
    var isUnread = false

    /// Creates a remote record by reading a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - mapping: The mapping of its fields.
    ///   - words: The file's words, for a record that may be inserted unchanged.
    init(_ record: CKRecord, _ mapping: RowMapping, _ words: Words? = nil) {
        name = record.recordID.recordName
        type = record.recordType
        tag = record.recordChangeTag
        system = RecordArchive.data(record)
        parent = record.parent?.recordID.recordName
        share = record.share?.recordID.recordName
        let table = mapping.catalog.table(ofType: record.recordType) { field in
            record.object(forKey: field) as? String
        }
        self.table = table
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

    /// Encodes the fields relative to the row, which will have all those with a column.
    private mutating func prepare(
        _ fields: [String: StoreValue],
        _ table: TableSchema,
        _ words: Words
    ) {
        let known = KnownFields(fields)
        missingWords = known.missingWords(words)
        // Without the bytes they are made while the row is written, where errors are reported.
        if let base = try? known.data(words, isInRow: { field, _ in table.keepsOnce(field) }) {
            inserted = (base, words)
        }
    }

    /// `true` when the fields can be read.
    var isReadable: Bool {
        // The error is shown where the record is quarantined.
        (try? fields.get()) != nil
    }

    /// Creates an unread record whose version the file had on arrival; it is read only if the file
    /// no longer has it.
    init(unread record: CKRecord) {
        name = record.recordID.recordName
        type = record.recordType
        tag = record.recordChangeTag
        system = Data()
        fields = .success([:])
        isUnread = true
        self.record = record
    }

    /// Creates a remote record from a kept one, as it arrived.
    init(kept record: KnownRecord, _ mapping: RowMapping) throws {
        let kept = try record.baseFields().known
        let table = mapping.catalog.table(ofType: record.type) { field in
            if case .text(let text)? = kept[field] { text } else { nil }
        }
        self.table = table
        name = record.recordName
        type = record.type
        key = table.flatMap { RowKey(recordName: record.recordName, $0) }
        tag = record.tag
        system = record.system ?? Data()
        let archived = record.archived()
        parent = archived?.parent?.recordID.recordName
        share = archived?.share?.recordID.recordName
        let current = table.map { mapping.current(kept, $0) } ?? kept
        fields =
            current.values.contains(where: \.isUnknown)
            ? .failure(
                RowMapping.UnreadableAsset(description: "its assets have to be fetched again")
            )
            : .success(current)
    }
}
