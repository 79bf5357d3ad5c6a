/// What decoding does about a reference whose record is not there.
public enum MissingRecords: Sendable {
    /// An error that names the record and the path to it.
    case fail

    /// An optional property is nil, and an entry of a list is left out; elsewhere an error.
    case omit
}
