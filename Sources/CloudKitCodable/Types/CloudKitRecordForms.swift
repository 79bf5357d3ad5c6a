/// The forms in which values that a record cannot hold directly become fields.
///
/// Decoding reads both, whichever is chosen.
public enum CloudKitRecordForms: Sendable {
    /// The forms of earlier versions of this API, which existing apps have in their schemas: `UUID`,
    /// `Decimal`, raw values and lists of them are JSON bytes.
    case original

    /// The forms that queries and the console can use: `UUID`, `URL` and `Decimal` are strings, raw
    /// values are stored directly, and lists of them are lists.
    case native
}
