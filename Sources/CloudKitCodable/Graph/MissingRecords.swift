/// The handling of a reference whose record is missing.
public enum MissingRecords: Sendable {
    /// Throws an error that names the record and the path to it.
    case fail

    /// Sets optional properties to nil and omits entries of lists; throws an error elsewhere.
    ///
    /// A value that was decoded in this way no longer refers to the missing records when it is saved.
    case omit
}
