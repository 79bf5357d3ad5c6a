import CloudKit

/// A field of a record: its name, the key that asked for it, and what is special.
struct RecordField {
    /// The field's name.
    let name: String

    /// The coding key.
    let key: any CodingKey

    /// What the model says of the property.
    let options: CloudKitField?

    /// Whether the value to be stored came out of an optional: null would come back as no value there.
    var isWithinOptional = false
}
