import CloudKit

/// A field of a record: its name, its coding key and its options.
struct RecordField {
    /// The field's name.
    let name: String

    /// The coding key.
    let key: any CodingKey

    /// The model's options for the property.
    let options: CloudKitField?

    /// `true` when the value to be stored came out of an optional, where null would be decoded as
    /// nil.
    var isWithinOptional = false
}
