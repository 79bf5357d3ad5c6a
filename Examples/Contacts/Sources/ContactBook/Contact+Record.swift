import CloudKit
import Foundation

extension Contact {
    /// The contact in a record from the server.
    init(_ record: CKRecord) {
        self.init(
            id: record.recordID.recordName,
            name: record["name"] ?? "",
            phone: record["phone"] ?? ""
        )
        systemFields = record.systemFields
    }

    /// The contact as a record to send, on the version that the server last had.
    func record(_ recordID: CKRecord.ID) -> CKRecord {
        let record =
            systemFields.flatMap(CKRecord.init(systemFields:))
            ?? CKRecord(recordType: "Contact", recordID: recordID)
        record["name"] = name
        record["phone"] = phone
        return record
    }
}

extension CKRecord {
    /// What the record has besides its fields, to save a later change of it with.
    var systemFields: Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        encodeSystemFields(with: archiver)
        return archiver.encodedData
    }

    /// The record of system fields, without values.
    convenience init?(systemFields: Data) {
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else {
            return nil
        }
        unarchiver.requiresSecureCoding = true
        self.init(coder: unarchiver)
        unarchiver.finishDecoding()
    }
}
