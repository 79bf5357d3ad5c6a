import CloudKit
import CloudKitCodable
import Foundation

/// A model with 10 fields of mixed types, and a hand-written mapping.
struct TenFields: CloudKitModel, Equatable, Sendable {
    static let recordName = "tenfields"

    var field0: String = "text of field 1"
    var field1: Int = 2
    var field2: Double = 3.5
    var field3: String = "another text 4"
    var field4: Int = 500
    var field5: Bool = true
    var field6: Date = Date(timeIntervalSinceReferenceDate: 7)
    var field7: String = "note 8"
    var field8: Double = 0.9
    var field9: Int = -10

    var recordName: String { Self.recordName }

    init() {}

    /// Reads a record field by field.
    init(record: CKRecord) throws {
        guard
            let field0: String = record["field0"],
            let field1: Int = record["field1"],
            let field2: Double = record["field2"],
            let field3: String = record["field3"],
            let field4: Int = record["field4"],
            let field5: Bool = record["field5"],
            let field6: Date = record["field6"],
            let field7: String = record["field7"],
            let field8: Double = record["field8"],
            let field9: Int = record["field9"]
        else { throw CKError(.invalidArguments) }
        self.field0 = field0
        self.field1 = field1
        self.field2 = field2
        self.field3 = field3
        self.field4 = field4
        self.field5 = field5
        self.field6 = field6
        self.field7 = field7
        self.field8 = field8
        self.field9 = field9
    }

    /// Writes a record field by field.
    func record(in zoneID: CKRecordZone.ID) -> CKRecord {
        let recordID = CKRecord.ID(recordName: Self.recordName, zoneID: zoneID)
        let record = CKRecord(recordType: "TenFields", recordID: recordID)
        assign(to: record)
        return record
    }

    /// Assigns all fields of a record.
    func assign(to record: CKRecord) {
        record["field0"] = field0
        record["field1"] = field1
        record["field2"] = field2
        record["field3"] = field3
        record["field4"] = field4
        record["field5"] = field5
        record["field6"] = field6
        record["field7"] = field7
        record["field8"] = field8
        record["field9"] = field9
    }
}
