public import CloudKit

/// The key of a model's field, with the type of its values.
///
/// `@CloudKitRecord` makes one for each property, and every record has those of its system fields:
///
/// ```swift
/// let title = try record.value(of: Note.Fields.title)        // a String
/// let query = try Note.query(where: .creationDate > yesterday)
/// ```
public struct CloudKitFieldKey<Model, Value>: Sendable, Equatable {
    /// The name of the field in the record.
    public let name: CKRecord.FieldKey

    /// The coding key of the property.
    let property: String

    /// What the model says of the property.
    let options: CloudKitField?

    /// Makes the key of a property.
    ///
    /// - Parameters:
    ///   - property: The property, for its types.
    ///   - key: The property's coding key.
    public init(_ property: KeyPath<Model, Value>, _ key: any CodingKey)
    where Model: CloudKitModel {
        self.init(key)
    }

    /// Makes the key of a coding key.
    init(_ key: any CodingKey) where Model: CloudKitModel {
        options = Model.fields[key]
        name = options?.name ?? key.stringValue
        property = key.stringValue
    }

    /// Makes the key of a field that every record has.
    init(system name: CKRecord.FieldKey) {
        self.name = name
        property = name
        options = nil
    }

    /// Makes the key of the property that a key path leads to.
    static func found(
        _ property: KeyPath<Model, Value>
    ) throws(CloudKitQueryError) -> Self where Model: CloudKitMappedModel {
        guard let key = Model.codingKey(of: property) else {
            throw CloudKitQueryError(
                Model.recordType,
                "\(property)",
                "it is no stored property with a field of its own; name one that has"
            )
        }
        return Self(key)
    }
}
