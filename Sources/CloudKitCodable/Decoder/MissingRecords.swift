/// The handling of a reference whose record is missing.
///
/// ```swift
/// // A shelf shows although a book of it was deleted.
/// let decoder = CloudKitGraphDecoder(missingRecords: .omit)
/// ```
public enum MissingRecords: Sendable {
    /// Throws an error that names the record and the path to it.
    case fail

    /// Sets optional properties to nil and omits entries of lists; throws an error elsewhere.
    ///
    /// A value that was decoded in this way no longer refers to the missing records when it is saved.
    case omit
}
