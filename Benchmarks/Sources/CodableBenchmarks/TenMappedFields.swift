import CloudKit
import CloudKitCodable
import Foundation

#if Macros
/// The fields of `TenFields`, with the mapping that the macro generates.
@CloudKitRecord("TenFields")
struct TenMappedFields: Equatable, Sendable {
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

    var recordName: String { TenFields.recordName }
}
#endif
