/// In which form values that a record cannot hold as they are become fields.
///
/// Whatever the choice, decoding reads both.
public enum CloudKitRecordForms: Sendable {
    /// The forms of earlier versions of this API, which schemas of existing apps have: `UUID`,
    /// `Decimal`, raw values and lists of them are JSON bytes.
    case original

    /// The forms that a query and the console can use: `UUID`, `URL` and `Decimal` are strings, raw
    /// values are what they are raw, and lists of them are lists.
    case native
}
