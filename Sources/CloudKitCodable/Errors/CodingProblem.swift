import CloudKit
import Foundation

/// The messages of errors, in one place: the found value, the expected one, and the remedy.
enum CodingProblem {
    /// Returns the name of CloudKit's type for a value in a record.
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

    /// Returns a value in the form that an error carries: itself if it can be printed, else its type.
    ///
    /// Printing a date that is not a number ends the process, wherever in the value it is.
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

    /// Returns the record as messages name it.
    static func place(_ record: CKRecord) -> String {
        "record \(record.recordID.recordName) of type \(record.recordType)"
    }

    /// Returns an error's text: its own description, with the remedy if it has one.
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
