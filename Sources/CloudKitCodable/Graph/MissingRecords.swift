/// What decoding does about a reference whose record is not there.
public enum MissingRecords: Sendable {
    /// An error that names the record and the path to it.
    case fail

    /// An optional property is nil, and an entry of a list is left out; elsewhere an error.
    ///
    /// A value that was decoded so and is saved again refers no more to what was left out.
    case omit
}
