import CloudKit
import Foundation

/// The system fields of a record as bytes.
///
/// With this package's `CloudKit` they have a compact format, without the data that the file stores
/// beside them; Apple's framework only offers a keyed archive, which older files have too.
enum RecordArchive {
    static func data(_ record: CKRecord) -> Data {
        #if !canImport(Darwin) || PORTABLE_CLOUDKIT
        if !(record is CKShare) { return record.compactSystemFields }
        #endif
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
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
        if let record = CKRecord(earlierSystemFields: data) { return record }
        #endif
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }
}
