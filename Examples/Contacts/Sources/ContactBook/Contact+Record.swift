import CloudKit
import Foundation

extension Contact {
    /// Creates the contact of a record from the server.
    init(_ record: CKRecord) {
        self.init(
            id: record.recordID.recordName,
            name: record["name"] ?? "",
            phone: record["phone"] ?? ""
        )
        systemFields = record.systemFields
    }

    /// Returns a record to send, based on the server's last known version.
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
    /// The record's system fields, with which a later change of it is saved.
    var systemFields: Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        encodeSystemFields(with: archiver)
        return archiver.encodedData
    }

    /// Creates the record of system fields, without values.
    convenience init?(systemFields: Data) {
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else {
            return nil
        }
        unarchiver.requiresSecureCoding = true
        self.init(coder: unarchiver)
        unarchiver.finishDecoding()
    }
}
