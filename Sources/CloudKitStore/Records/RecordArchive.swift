import CloudKit
import CloudKitBasics
import Foundation

/// The system fields of a record as bytes.
///
/// With this package's `CloudKit` they have a compact format, without the data that the file stores
/// beside them; Apple's framework only offers a keyed archive, which older files have too.
enum RecordArchive {
    static func data(_ record: CKRecord) -> Data {
        #if !canImport(Darwin) || PORTABLE_CLOUDKIT
        return record is CKShare ? record.systemFieldsArchive : record.compactSystemFields
        #else
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
        #endif
    }

    /// Returns the record without its values, from its bytes and the data stored beside them; nil
    /// when the bytes are invalid.
    static func record(
        _ data: Data,
        type: String,
        _ recordID: @autoclosure () -> CKRecord.ID,
        tag: String?
    ) -> CKRecord? {
        #if !canImport(Darwin) || PORTABLE_CLOUDKIT
        if let record = CKRecord(
            compactSystemFields: data,
            recordType: type,
            recordID: recordID(),
            changeTag: tag
        ) {
            return record
        }
        if let record = CKRecord(earlierSystemFields: data) ?? CKRecord(systemFieldsArchive: data) {
            return record
        }
        guard !BinaryPropertyList.hasSets(Array(data)) else { return nil }
        #endif
        // Bytes that are no archive have no record; the caller fetches it again.
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }
}

/// The server's data about an accepted record.
struct SavedRecord: Sendable {
    var name: String
    var tag: String?
    var system: Data
    /// The names of the record above it in a shared tree, and of its share.
    var parent: String?
    var share: String?
    /// The time at which the server accepted it, in microseconds.
    var modified: Int64?

    init(_ record: CKRecord) {
        name = record.recordID.recordName
        tag = record.recordChangeTag
        system = RecordArchive.data(record)
        parent = record.parent?.recordID.recordName
        share = record.share?.recordID.recordName
        modified = record.modificationDate.map { Int64($0.timeIntervalSince1970 * 1_000_000) }
    }
}
