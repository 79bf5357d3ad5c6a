public import CloudKit

/// How one property of a model is stored, where that is not what its type says.
public struct CloudKitField: Sendable, Equatable {
    /// In which form a value is stored.
    enum Storage: Sendable, Equatable {
        case automatic
        case encrypted
        case asset(above: Int)
        case json
        case recordName
        case ignored
    }

    /// Which record holds the reference between a model and the models in a property.
    enum Relation: Sendable, Equatable {
        case reference(CKRecord.ReferenceAction, isHierarchy: Bool)
        case children(field: String, action: CKRecord.ReferenceAction, isHierarchy: Bool)
    }

    var name: String?
    var storage = Storage.automatic
    var relation: Relation?

    /// Encrypted before it leaves the device, in the record's `encryptedValues`.
    ///
    /// Encrypted fields cannot be queried, and references cannot be encrypted.
    public static let encrypted = CloudKitField(storage: .encrypted)

    /// A file beside the record, whatever the size; for `Data` and other `Codable` values.
    public static let asset = CloudKitField(storage: .asset(above: -1))

    /// Bytes in the record up to a size, a file beside the record above it.
    ///
    /// A field has one type for ever, so the file is a second field, named like the first with
    /// `_asset` behind it.
    ///
    /// - Parameter size: The largest number of bytes that stay in the record.
    /// - Returns: What is special about the property.
    public static func asset(above size: Int) -> CloudKitField {
        CloudKitField(storage: .asset(above: max(0, size)))
    }

    /// JSON bytes, whatever the type: for values that are text one time and a structure another,
    /// and for models that are to stay inside their parent's record.
    public static let json = CloudKitField(storage: .json)

    /// Not a field: the record's name, for properties of type `String` or `UUID`.
    public static let recordName = CloudKitField(storage: .recordName)

    /// Neither written nor read; the property must be optional.
    public static let ignored = CloudKitField(storage: .ignored)

    /// Another name for the field than the coding key.
    public static func named(_ name: String) -> CloudKitField {
        CloudKitField(name: name)
    }

    /// References to the models in the property, kept in this record.
    ///
    /// - Parameters:
    ///   - action: `.deleteSelf` deletes this record when a model it refers to is deleted.
    ///   - isHierarchy: Whether this record becomes the `parent` of the models' records, so that
    ///     sharing it shares them.
    /// - Returns: What is special about the property.
    public static func reference(
        _ action: CKRecord.ReferenceAction,
        isHierarchy: Bool = false
    ) -> CloudKitField {
        CloudKitField(relation: .reference(action, isHierarchy: isHierarchy))
    }

    /// References to this record, kept in the records of the models in the property.
    ///
    /// A list of thousands costs this record nothing, and deleting this record deletes the models
    /// with it. The models' records get a second field, named like the first with `_position`
    /// behind it, which keeps their order.
    ///
    /// - Parameters:
    ///   - field: The field of the models' records that refers to this record.
    ///   - action: `.deleteSelf` deletes the models when this record is deleted.
    ///   - isHierarchy: Whether this record becomes the `parent` of the models' records, so that
    ///     sharing it shares them.
    /// - Returns: What is special about the property.
    public static func children(
        via field: String,
        _ action: CKRecord.ReferenceAction = .deleteSelf,
        isHierarchy: Bool = false
    ) -> CloudKitField {
        CloudKitField(relation: .children(field: field, action: action, isHierarchy: isHierarchy))
    }

    /// The same under another name than the coding key.
    public func named(_ name: String) -> CloudKitField {
        var field = self
        field.name = name
        return field
    }
}
