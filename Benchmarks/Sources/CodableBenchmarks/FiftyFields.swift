import CloudKit
import CloudKitCodable
import Foundation

/// A model with 50 fields of mixed types, and a hand-written mapping.
struct FiftyFields: CloudKitModel, Equatable, Sendable {
    static let recordName = "fiftyfields"

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
    var field10: String = "text of field 11"
    var field11: Int = 12
    var field12: Double = 13.5
    var field13: String = "another text 14"
    var field14: Int = 1500
    var field15: Bool = true
    var field16: Date = Date(timeIntervalSinceReferenceDate: 17)
    var field17: String = "note 18"
    var field18: Double = 0.19
    var field19: Int = -20
    var field20: String = "text of field 21"
    var field21: Int = 22
    var field22: Double = 23.5
    var field23: String = "another text 24"
    var field24: Int = 2500
    var field25: Bool = true
    var field26: Date = Date(timeIntervalSinceReferenceDate: 27)
    var field27: String = "note 28"
    var field28: Double = 0.29
    var field29: Int = -30
    var field30: String = "text of field 31"
    var field31: Int = 32
    var field32: Double = 33.5
    var field33: String = "another text 34"
    var field34: Int = 3500
    var field35: Bool = true
    var field36: Date = Date(timeIntervalSinceReferenceDate: 37)
    var field37: String = "note 38"
    var field38: Double = 0.39
    var field39: Int = -40
    var field40: String = "text of field 41"
    var field41: Int = 42
    var field42: Double = 43.5
    var field43: String = "another text 44"
    var field44: Int = 4500
    var field45: Bool = true
    var field46: Date = Date(timeIntervalSinceReferenceDate: 47)
    var field47: String = "note 48"
    var field48: Double = 0.49
    var field49: Int = -50

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
            let field9: Int = record["field9"],
            let field10: String = record["field10"],
            let field11: Int = record["field11"],
            let field12: Double = record["field12"],
            let field13: String = record["field13"],
            let field14: Int = record["field14"],
            let field15: Bool = record["field15"],
            let field16: Date = record["field16"],
            let field17: String = record["field17"],
            let field18: Double = record["field18"],
            let field19: Int = record["field19"],
            let field20: String = record["field20"],
            let field21: Int = record["field21"],
            let field22: Double = record["field22"],
            let field23: String = record["field23"],
            let field24: Int = record["field24"],
            let field25: Bool = record["field25"],
            let field26: Date = record["field26"],
            let field27: String = record["field27"],
            let field28: Double = record["field28"],
            let field29: Int = record["field29"],
            let field30: String = record["field30"],
            let field31: Int = record["field31"],
            let field32: Double = record["field32"],
            let field33: String = record["field33"],
            let field34: Int = record["field34"],
            let field35: Bool = record["field35"],
            let field36: Date = record["field36"],
            let field37: String = record["field37"],
            let field38: Double = record["field38"],
            let field39: Int = record["field39"],
            let field40: String = record["field40"],
            let field41: Int = record["field41"],
            let field42: Double = record["field42"],
            let field43: String = record["field43"],
            let field44: Int = record["field44"],
            let field45: Bool = record["field45"],
            let field46: Date = record["field46"],
            let field47: String = record["field47"],
            let field48: Double = record["field48"],
            let field49: Int = record["field49"]
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
        self.field10 = field10
        self.field11 = field11
        self.field12 = field12
        self.field13 = field13
        self.field14 = field14
        self.field15 = field15
        self.field16 = field16
        self.field17 = field17
        self.field18 = field18
        self.field19 = field19
        self.field20 = field20
        self.field21 = field21
        self.field22 = field22
        self.field23 = field23
        self.field24 = field24
        self.field25 = field25
        self.field26 = field26
        self.field27 = field27
        self.field28 = field28
        self.field29 = field29
        self.field30 = field30
        self.field31 = field31
        self.field32 = field32
        self.field33 = field33
        self.field34 = field34
        self.field35 = field35
        self.field36 = field36
        self.field37 = field37
        self.field38 = field38
        self.field39 = field39
        self.field40 = field40
        self.field41 = field41
        self.field42 = field42
        self.field43 = field43
        self.field44 = field44
        self.field45 = field45
        self.field46 = field46
        self.field47 = field47
        self.field48 = field48
        self.field49 = field49
    }

    /// Writes a record field by field.
    func record(in zoneID: CKRecordZone.ID) -> CKRecord {
        let recordID = CKRecord.ID(recordName: Self.recordName, zoneID: zoneID)
        let record = CKRecord(recordType: "FiftyFields", recordID: recordID)
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
        record["field10"] = field10
        record["field11"] = field11
        record["field12"] = field12
        record["field13"] = field13
        record["field14"] = field14
        record["field15"] = field15
        record["field16"] = field16
        record["field17"] = field17
        record["field18"] = field18
        record["field19"] = field19
        record["field20"] = field20
        record["field21"] = field21
        record["field22"] = field22
        record["field23"] = field23
        record["field24"] = field24
        record["field25"] = field25
        record["field26"] = field26
        record["field27"] = field27
        record["field28"] = field28
        record["field29"] = field29
        record["field30"] = field30
        record["field31"] = field31
        record["field32"] = field32
        record["field33"] = field33
        record["field34"] = field34
        record["field35"] = field35
        record["field36"] = field36
        record["field37"] = field37
        record["field38"] = field38
        record["field39"] = field39
        record["field40"] = field40
        record["field41"] = field41
        record["field42"] = field42
        record["field43"] = field43
        record["field44"] = field44
        record["field45"] = field45
        record["field46"] = field46
        record["field47"] = field47
        record["field48"] = field48
        record["field49"] = field49
        return record
    }
}
