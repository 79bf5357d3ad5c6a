import CloudKit
import CloudKitFiles
import Foundation

// CloudKit cannot transfer NaN or infinity, and a date with one of them cannot even be printed:
// encoding ends with an error that names the field.
extension RecordEncoding {
    /// Returns a number, or throws if it is not finite.
    @inline(__always)
    func finite(_ number: Double, _ key: some CodingKey) throws -> Double {
        if number.isFinite { return number }
        throw notFinite(number, key)
    }

    /// Returns a date, or throws if CloudKit cannot store it.
    @inline(__always)
    func finite(_ date: Date, _ key: some CodingKey) throws -> Date {
        if date._isStorable { return date }
        throw notADate(date, key)
    }

    /// Returns a decimal, or throws if it is not a number.
    func finite(_ decimal: Decimal, _ key: some CodingKey) throws -> Decimal {
        guard !decimal.isNaN else {
            throw error("NaN", key, "the decimal is not a number; make the property optional")
        }
        return decimal
    }

    @inline(never)
    private func notFinite(_ number: Double, _ key: some CodingKey) -> any Error {
        error(
            number,
            key,
            "\(number) is not a number that CloudKit supports; make the property optional, or a string"
        )
    }

    @inline(never)
    private func notADate(_ date: Date, _ key: some CodingKey) -> any Error {
        error(
            date.timeIntervalSinceReferenceDate,
            key,
            """
            a date \(date.timeIntervalSinceReferenceDate) seconds from 2001 is outside CloudKit's \
            range; make the property optional
            """
        )
    }

    /// Returns the reason why a record cannot hold an object; nil when it can.
    static func problem(_ object: any CKRecordValue) -> String? {
        switch object {
        case let asset as CKAsset: problem(asset)
        case let location as CLLocation: problem(location)
        case let list as [Any]:
            list.lazy.compactMap { element -> String? in
                switch element {
                case let asset as CKAsset: problem(asset)
                case let location as CLLocation: problem(location)
                default: nil
                }
            }.first
        default: nil
        }
    }

    /// Returns the problem of an asset: a missing file may appear before the upload; a folder or a
    /// pipe never becomes a file.
    private static func problem(_ asset: CKAsset) -> String? {
        guard let file = asset.place else { return nil }
        guard let stamp = FileStamp(of: file), !stamp.isFile else { return nil }
        return stamp.isFolder
            ? "\(file.path) is a folder, and an asset is one file: give it an archive of the folder"
            : """
            \(file.path) is a pipe, a socket or a device, and an asset is a file: write its \
            contents into one
            """
    }

    private static func problem(_ location: CLLocation) -> String? {
        let numbers = [
            location.coordinate.latitude, location.coordinate.longitude, location.altitude,
            location.horizontalAccuracy, location.verticalAccuracy, location.course,
            location.speed, location.timestamp.timeIntervalSinceReferenceDate,
        ]
        guard let wrong = numbers.first(where: { !$0.isFinite }) else { return nil }
        return "a location of which a part is \(wrong) has no place; make the property optional"
    }

    /// Returns a file as an asset.
    func asset(of file: URL, _ field: RecordField) throws -> CKAsset {
        let asset = CKAsset.noting(file)
        if let problem = Self.problem(asset) { throw error(file, field.key, problem) }
        return asset
    }
}
