/// The way to field values that are not boxed.
protocol FieldStoring: AnyObject {
    /// The value of a field; setting nil clears it.
    subscript(field key: CKRecord.FieldKey) -> FieldValue? { get set }
}
