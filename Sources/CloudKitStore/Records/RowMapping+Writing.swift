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
            let isPlain = table?.byField[name]?.isEncrypted != true
            let object = Self.object(value, zone: record.recordID.zoneID, file: files[name])
            if name.hasPrefix(Self.encryptedPrefix) {
                let field = String(name.dropFirst(Self.encryptedPrefix.count))
                record.encryptedValues.setObject(object, forKey: field)
            } else if isPlain {
                record.setObject(object, forKey: name)
            } else {
                record.encryptedValues.setObject(object, forKey: name)
            }
        }
    }

    private static func object(
        _ value: StoreValue,
        zone: CKRecordZone.ID,
        file: URL?
    ) -> (any __CKRecordObjCValue)? {
        switch value {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .text(let text): text as NSString
        case .bytes(let data): data as NSData
        case .date(let milliseconds):
            Date(timeIntervalSince1970: Double(milliseconds) / 1000) as NSDate
        case .reference(let name):
            CKRecord.Reference(
                recordID: CKRecord.ID(recordName: name, zoneID: zone),
                action: .none
            )
        case .location(let latitude, let longitude):
            CLLocation(latitude: latitude, longitude: longitude)
        case .list(let values):
            values.compactMap { object($0, zone: zone, file: nil) } as NSArray
        case .asset: file.map { CKAsset(fileURL: $0) }
        }
    }
}
