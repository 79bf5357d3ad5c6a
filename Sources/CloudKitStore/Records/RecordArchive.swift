import CloudKit
import Foundation

/// The system fields of a record as bytes.
///
/// Where `CloudKit` is ours they are a few of its own, without what the file says beside them;
/// Apple's framework gives none but a keyed archive, as files of before have.
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

    /// The record without its values, as it is known beside the bytes; nil when the bytes are none.
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
