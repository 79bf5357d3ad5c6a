public import Foundation

/// An error that occurs while one record is encoded.
public enum CloudKitRecordEncodingError: Error {
    /// The value of a key cannot be stored; kept for source compatibility, never thrown.
    case unsupportedValueForKey(String)
    /// The system fields are not an archive of a record.
    case systemFieldsDecode(String)
    /// References need ``CloudKitGraphEncoder``; kept for source compatibility, never thrown.
    @available(*, deprecated, message: "Nested values are stored as JSON; graphs create references")
    case referencesNotSupported(String)
    /// The bytes of one field do not fit into a record, which holds one megabyte.
    case dataFieldTooLarge(key: String, size: Int)

    /// A description of the problem and of its remedy.
    public var localizedDescription: String { message }

    private var message: String {
        switch self {
        case .unsupportedValueForKey(let key):
            "The value of \"\(key)\" cannot be stored in a record."
        case .systemFieldsDecode(let reason):
            """
            The system fields are not an archive created by CKRecord.encodeSystemFields(with:): \
            \(reason)
            """
        case .dataFieldTooLarge(let key, let size):
            """
            The value of "\(key)" takes \(size) bytes; a record holds 1 MB. Store it as a file: \
            conform its type to CloudKitAssetValue.
            """
        default:
            "References are created by CloudKitGraphEncoder."
        }
    }
}

extension CloudKitRecordEncodingError: LocalizedError {
    /// A description of the problem and of its remedy.
    public var errorDescription: String? { message }
}
