import CloudKit
import CoreLocation
import Foundation

extension CKRecord {
    /// Returns whether a field would hold the same with either value.
    ///
    /// Files are compared by their bytes, and so is text, because equal texts can have different
    /// bytes. Zero has two signs.
    static func isSame(_ old: Any, _ new: Any) -> Bool {
        if let old = old as? String, let new = new as? String {
            return old.utf8.elementsEqual(new.utf8)
        }
        if let old = old as? Double, let new = new as? Double, old == new {
            return old.sign == new.sign
        }
        if let old = old as? CKAsset, let new = new as? CKAsset {
            return new.hasSameFile(asTaken: old)
        }
        if let old = old as? [Any], let new = new as? [Any] {
            return old.elementsEqual(new) { isSame($0, $1) }
        }
        return NSArray(object: old).isEqual(NSArray(object: new))
    }

    /// Returns whether another record has the same type, parent and fields, whatever its version;
    /// optionally, any two files count as the same.
    func hasSameContents(as other: CKRecord, exceptFiles: Bool = false) -> Bool {
        recordType == other.recordType && parent?.recordID == other.parent?.recordID
            && firstDifference(from: other) {
                exceptFiles && Self.isFile($0) && Self.isFile($1)
                    || Self.isSame(Self.stored($0), Self.stored($1))
            } == nil
    }

    private static func isFile(_ value: Any) -> Bool { value is CKAsset || value is [CKAsset] }

    /// Returns the first field in which the record differs from another.
    func firstDifference(
        from other: CKRecord,
        isSame: (_ value: Any, _ other: Any) -> Bool
    ) -> String? {
        Self.firstDifference(self, other, isSame)
            ?? Self.firstDifference(encryptedValues, other.encryptedValues, isSame)
    }

    private static func firstDifference(
        _ fields: any CKRecordKeyValueSetting,
        _ others: any CKRecordKeyValueSetting,
        _ isSame: (Any, Any) -> Bool
    ) -> String? {
        Set(fields.allKeys()).union(others.allKeys()).sorted().first { key in
            switch (fields.object(forKey: key), others.object(forKey: key)) {
            case (nil, nil): false
            case (let value?, let other?): !isSame(value, other)
            default: true
            }
        }
    }

    /// Returns a value as the server stores it: dates, including those of locations, in whole
    /// milliseconds.
    private static func stored(_ value: Any) -> Any {
        // Finer parts are cut off, except for rounding errors.
        func stored(_ date: Date) -> Double {
            (date.timeIntervalSince1970 * 1000 + 0.001).rounded(.down)
        }
        func stored(_ location: CLLocation) -> [Double] {
            [
                location.coordinate.latitude, location.coordinate.longitude, location.altitude,
                location.horizontalAccuracy, location.verticalAccuracy, location.course,
                location.speed, stored(location.timestamp),
            ]
        }
        if let date = value as? Date { return stored(date) }
        if let location = value as? CLLocation { return stored(location) }
        if let dates = value as? [Date] { return dates.map(stored) }
        if let locations = value as? [CLLocation] { return locations.map(stored) }
        return value
    }
}
