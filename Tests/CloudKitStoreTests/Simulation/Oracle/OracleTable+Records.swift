import CloudKit
import Foundation

extension OracleTable {
    /// Returns the values that a record of the service says; files that were not downloaded are left out.
    ///
    /// - Throws: An error of a file.
    func values(of record: CKRecord) throws -> [String: OracleValue] {
        var values: [String: OracleValue] = [:]
        for (column, rule) in rules {
            guard let form = forms[column] else {
                guard record[column] != nil else {
                    values[column] = defaults[column] ?? OracleValue.none
                    continue
                }
                values[column] = try Self.value(record[column]).map(rule.compared)
                continue
            }
            let isSecret = form.formsField == "storeSecretForms"
            let stored: Any? = isSecret ? record.encryptedValues[column] : record[column]
            let texts: Any? =
                isSecret ? record.encryptedValues[form.formsField] : record[form.formsField]
            let written = (texts as? String).flatMap { OracleForm.forms($0)[column] }
            values[column] =
                stored == nil && written == nil
                ? defaults[column] ?? OracleValue.none
                : form.value(try Self.value(stored, isReal: form == .real), form: written)
        }
        return values
    }

    private static func value(_ stored: Any?, isReal: Bool = false) throws -> OracleValue? {
        switch stored {
        case let text as String: .text(text)
        case let date as Date: .number(Int64((date.timeIntervalSince1970 * 1000).rounded()))
        case let data as Data: .text(data.base64EncodedString())
        case let reference as CKRecord.Reference: .text(reference.recordID.recordName)
        case let asset as CKAsset: try asset.fileURL.map { .file(try Data(contentsOf: $0)) }
        case let elements as [String]: .list(elements)
        case let number as NSNumber where isReal: .real(number.doubleValue)
        case let number as NSNumber: .number(number.int64Value)
        default: nil
        }
    }
}
