import CloudKit
import Foundation

/// The messages of errors, in one place: what was found, what was expected, and what to do.
enum CodingProblem {
    /// The name of CloudKit's type for what a record holds.
    static func typeName(of value: Any?) -> String {
        switch value {
        case nil: "nothing"
        case is String: "STRING"
        case is Data: "BYTES"
        case is Date: "TIMESTAMP"
        case is CKRecord.Reference: "REFERENCE"
        case is CKAsset: "ASSET"
        case is CLLocation: "LOCATION"
        case let number as NSNumber: isFloating(number) ? "DOUBLE" : "INT64"
        case let list as [Any]: "LIST<\(list.first.map { typeName(of: $0) } ?? "")>"
        default: "\(type(of: value))"
        }
    }

    /// A value as an error carries it: itself where it can be printed whatever it is, else its type.
    ///
    /// A date that is no number ends the process when it is printed, wherever it is in the value.
    static func printable(_ value: Any) -> Any {
        switch value {
        case is String, is Bool, is Double, is Float, is URL, is UUID, is any FixedWidthInteger:
            value
        case let date as Date where date.timeIntervalSinceReferenceDate.isFinite: date
        default: "a \(type(of: value))"
        }
    }

    private static func isFloating(_ number: NSNumber) -> Bool {
        let type = UInt8(bitPattern: number.objCType.pointee)
        return type == UInt8(ascii: "d") || type == UInt8(ascii: "f")
    }

    /// The record as messages name it.
    static func place(_ record: CKRecord) -> String {
        "record \(record.recordID.recordName) of type \(record.recordType)"
    }

    /// An error in words: its own, with the remedy, where it has some.
    static func text(of error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    }

    static func missing(_ field: String, _ record: CKRecord) -> String {
        """
        \(place(record)) has no field \(field): make the property optional, or fetch the record \
        with this key
        """
    }

    static func mismatch(
        _ type: Any.Type,
        _ found: Any?,
        _ field: String,
        _ record: CKRecord
    )
        -> String
    {
        let remedy =
            found is CKAsset ? "; a value that is stored as a file has .asset in fields" : ""
        return """
            \(place(record)), field \(field): expected a value for \(type), found \
            \(typeName(of: found))\(remedy)
            """
    }
}
