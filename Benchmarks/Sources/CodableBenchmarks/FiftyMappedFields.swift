import CloudKit
import CloudKitCodable
import Foundation

#if Macros
/// The fields of `FiftyFields`, with the mapping that the macro generates.
@CloudKitRecord("FiftyFields")
struct FiftyMappedFields: Equatable, Sendable {
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

    var recordName: String { FiftyFields.recordName }
}
#endif
