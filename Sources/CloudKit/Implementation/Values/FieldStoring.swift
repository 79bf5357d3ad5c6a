/// Access to field values without boxing.
protocol FieldStoring: AnyObject {
    /// A field's value; setting nil clears it.
    subscript(field key: CKRecord.FieldKey) -> FieldValue? { get set }
}
