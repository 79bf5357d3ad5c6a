import CloudKit
import CoreLocation
import Foundation

extension RowMapping {
    /// Sets fields of a record.
    ///
    /// - Parameters:
    ///   - fields: The values by field.
    ///   - record: The record.
    ///   - table: The table whose columns the fields are; nil for fields of no column.
    ///   - files: The files of the assets, by field.
    func write(
        _ fields: [String: StoreValue],
        to record: CKRecord,
        _ table: TableSchema?,
        files: [String: URL] = [:]
    ) {
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            let value = value.plain
            let isPlain = table?.byField[name]?.isEncrypted != true
            let zone = record.recordID.zoneID
            if name.hasPrefix(Self.encryptedPrefix) {
                let field = String(name.dropFirst(Self.encryptedPrefix.count))
                record.encryptedValues.setObject(Self.object(value, zone: zone), forKey: field)
            } else if isPlain {
                Self.set(value, name, of: record, files[name])
            } else {
                record.encryptedValues.setObject(Self.object(value, zone: zone), forKey: name)
            }
        }
    }

    /// Sets the written forms of a record's values, for all values that it will have.
    ///
    /// - Parameters:
    ///   - fields: The values by field.
    ///   - before: The record's previous values.
    ///   - record: The record.
    ///   - table: The table whose columns the fields are.
    func writeForms(
        _ fields: [String: StoreValue],
        over before: [String: StoreValue],
        to record: CKRecord,
        _ table: TableSchema
    ) {
        for isEncrypted in [false, true] {
            func text(_ fields: [String: StoreValue]) -> String? {
                var chosen: [String: StoreValue] = [:]
                for (name, value) in fields {
                    if name.hasPrefix(Self.encryptedPrefix) {
                        guard isEncrypted else { continue }
                        chosen[String(name.dropFirst(Self.encryptedPrefix.count))] = value
                    } else if table.byField[name]?.isEncrypted ?? false == isEncrypted {
                        chosen[name] = value
                    }
                }
                return RecordForms(chosen, saysNull: table.saysNull).text
            }
            let (now, had) = (text(fields), text(before))
            // Those that another client's values replaced are in the record, too.
            let areStale =
                (!isEncrypted || table.columns.contains(where: \.isEncrypted))
                && (fields[RecordForms.field] ?? before[RecordForms.field]) != nil
            guard now != nil || had != nil || areStale else { continue }
            if isEncrypted {
                record.encryptedValues[RecordForms.encryptedField] = now
            } else {
                record[RecordForms.field] = now
            }
        }
    }

    /// Sets a field as a value of its own type, which is faster than inspecting an object.
    private static func set(
        _ value: StoreValue,
        _ name: String,
        of record: CKRecord,
        _ file: URL?
    ) {
        switch value {
        case .integer(let number): record[name] = number
        case .real(let number): record[name] = number.isFinite ? number : nil
        case .text(let text): record[name] = text
        case .bytes(let data): record[name] = data
        case .date(let milliseconds): record[name] = date(milliseconds)
        default:
            let object = object(value, zone: record.recordID.zoneID, file: file)
            record.setObject(object, forKey: name)
        }
    }

    private static func object(
        _ value: StoreValue,
        zone: CKRecordZone.ID,
        file: URL? = nil
    ) -> (any __CKRecordObjCValue)? {
        switch value {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .real(let number): number.isFinite ? NSNumber(value: number) : nil
        case .text(let text): text as NSString
        case .bytes(let data): data as NSData
        case .date(let milliseconds): date(milliseconds) as NSDate
        case .reference(let name):
            CKRecord.Reference(
                recordID: CKRecord.ID(recordName: name, zoneID: zone),
                action: .none
            )
        case .location(let latitude, let longitude):
            CLLocation(latitude: latitude, longitude: longitude)
        case .list(let values):
            values.compactMap { object($0, zone: zone) } as NSArray
        case .asset: file.map { CKAsset(fileURL: $0) }
        case .written(let value, _): object(value, zone: zone, file: file)
        }
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
