public import CloudKit

/// The key of a model's field, with the type of its values.
///
/// `@CloudKitRecord` declares one for each property, and every model has those of the system fields:
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

    /// The model's options for the property.
    let options: CloudKitField?

    /// Creates the key of a property.
    ///
    /// - Parameters:
    ///   - property: The property, for its types.
    ///   - key: The property's coding key.
    public init(_ property: KeyPath<Model, Value>, _ key: any CodingKey)
    where Model: CloudKitModel {
        self.init(key)
    }

    /// Creates the key of a coding key.
    init(_ key: any CodingKey) where Model: CloudKitModel {
        options = Model.fields[key]
        name = options?.name ?? key.stringValue
        property = key.stringValue
    }

    /// Creates the key of a field that every record has.
    init(system name: CKRecord.FieldKey) {
        self.name = name
        property = name
        options = nil
    }

    /// Returns the key of the property that a key path leads to.
    static func found(
        _ property: KeyPath<Model, Value>
    ) throws(CloudKitQueryError) -> Self where Model: CloudKitMappedModel {
        guard let key = Model.codingKey(of: property) else {
            throw CloudKitQueryError(
                Model.recordType,
                "\(property)",
                "it is not a stored property with its own field; name one that is"
            )
        }
        return Self(key)
    }
}

extension CloudKitFieldKey where Value == Date {
    /// The date when the server first saved the record.
    public static var creationDate: Self { Self(system: "creationDate") }

    /// The date when the server last saved the record.
    public static var modificationDate: Self { Self(system: "modificationDate") }
}

extension CloudKitFieldKey where Value == CKRecord.ID {
    /// The record's identity.
    public static var recordID: Self { Self(system: "recordID") }

    /// The identity of the user who created the record.
    public static var creatorUserRecordID: Self { Self(system: "creatorUserRecordID") }

    /// The identity of the user who last changed the record.
    public static var lastModifiedUserRecordID: Self { Self(system: "lastModifiedUserRecordID") }
}
