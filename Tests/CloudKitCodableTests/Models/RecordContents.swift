#if Macros
import CloudKit
import Foundation
import Testing

/// The contents of a record, for comparison: files by their bytes.
struct RecordContents: Equatable, CustomStringConvertible {
    private let type: String
    private let id: CKRecord.ID
    private let parent: CKRecord.ID?
    private let plain: [String: NSObject]
    private let encrypted: [String: NSObject]
    private let changed: [String]
    private let changedEncrypted: [String]

    init(_ record: CKRecord) throws {
        type = record.recordType
        id = record.recordID
        parent = record.parent?.recordID
        plain = try Self.values(of: record)
        encrypted = try Self.values(of: record.encryptedValues)
        changed = record.changedKeys().sorted()
        changedEncrypted = record.encryptedValues.changedKeys().sorted()
    }

    private static func values(
        of store: some CKRecordKeyValueSetting
    ) throws -> [String: NSObject] {
        var values: [String: NSObject] = [:]
        for key in store.allKeys() {
            guard let object = store.object(forKey: key) else { continue }
            if let asset = object as? CKAsset, let url = asset.fileURL {
                values[key] = try Data(contentsOf: url) as NSData
            } else {
                values[key] = try #require(object as? NSObject)
            }
        }
        return values
    }

    var description: String {
        let fields = (plain.merging(encrypted) { plain, _ in plain })
            .sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)\(changed.contains($0.key) ? "*" : "")" }
        return "\(type) \(id.recordName): " + fields.joined(separator: ", ")
    }
}
#endif
