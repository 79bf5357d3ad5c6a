import CloudKit
import CloudKitBasics
import Foundation

/// System fields as bytes, with which a value is saved onto the version it came from.
enum SystemFieldsArchive {
    /// Returns the record that the bytes describe, without values.
    static func record(from data: Data) throws -> CKRecord {
        #if !canImport(Darwin) || PORTABLE_CLOUDKIT
        if let record = CKRecord(systemFieldsArchive: data) { return record }
        guard !BinaryPropertyList.hasSets(Array(data)) else {
            throw CloudKitRecordEncodingError.systemFieldsDecode("the archive holds a set")
        }
        #endif
        let unarchiver: NSKeyedUnarchiver
        do {
            unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        } catch {
            throw CloudKitRecordEncodingError.systemFieldsDecode(error.localizedDescription)
        }
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        guard let record = CKRecord(coder: unarchiver) else {
            throw CloudKitRecordEncodingError.systemFieldsDecode(
                "the archive holds no record type or no record ID"
            )
        }
        return record
    }

    /// Returns the system fields of a record as bytes.
    static func data(of record: CKRecord) -> Data {
        #if !canImport(Darwin) || PORTABLE_CLOUDKIT
        return record.systemFieldsArchive
        #else
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
        #endif
    }
}
