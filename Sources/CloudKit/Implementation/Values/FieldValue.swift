import CoreLocation
import Foundation

/// The value of a record's field, in the record's internal form.
///
/// CloudKit has no Booleans: they are the integers 0 and 1. An unsigned integer beyond `Int64.max`
/// is kept unchanged, because it must be readable; saving it is an error that names the field.
enum FieldValue: Sendable {
    case string(String)
    case int64(Int64)
    case unsigned(UInt64)
    case double(Double)
    case date(Date)
    case bytes(Data)
    case reference(CKRecord.Reference)
    case asset(CKAsset)
    case location(CLLocation)
    case list([FieldValue])
}

extension FieldValue: Equatable {
    /// Returns whether both values are equal; assets are compared by identity or file.
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left == right
        case (.int64(let left), .int64(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.reference(let left), .reference(let right)): left.isEqual(right)
        case (.asset(let left), .asset(let right)):
            left === right || left.unsharedFileURL == right.unsharedFileURL
        case (.location(let left), .location(let right)): left.isEqual(right)
        case (.list(let left), .list(let right)): left == right
        default: false
        }
    }
}

extension FieldValue {
    /// The value in the form of the untyped subscript: `NSNumber` for numbers, because a cast to
    /// any number type must work as on Apple platforms.
    var object: any __CKRecordObjCValue {
        switch self {
        case .string(let string): string
        case .int64(let integer): NSNumber(value: integer)
        case .unsigned(let integer): NSNumber(value: integer)
        case .double(let double): NSNumber(value: double)
        case .date(let date): date
        case .bytes(let data): data
        case .reference(let reference): reference
        case .asset(let asset): asset
        case .location(let location): location
        case .list(let values): Self.objects(values)
        }
    }

    /// Returns a list as an array of its elements' type.
    private static func objects(_ values: [FieldValue]) -> any __CKRecordObjCValue {
        switch values.first {
        case .string: values.compactMap { $0.value(as: String.self) }
        case .int64, .unsigned, .double: values.compactMap { $0.object as? NSNumber }
        case .date: values.compactMap { $0.value(as: Date.self) }
        case .bytes: values.compactMap { $0.value(as: Data.self) }
        case .reference: values.compactMap { $0.value(as: CKRecord.Reference.self) }
        case .asset: values.compactMap { $0.value(as: CKAsset.self) }
        case .location: values.compactMap { $0.value(as: CLLocation.self) }
        case .list, nil: NSArray()
        }
    }
}
