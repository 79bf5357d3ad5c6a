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

    /// The type of the property, where the table says it.
    var type: DeclaredType?

    /// A type that can be compared.
    struct DeclaredType: @unchecked Sendable, Equatable {
        // @unchecked Sendable because a type is a constant.
        let type: Any.Type

        static func == (left: Self, right: Self) -> Bool { left.type == right.type }
    }

    /// Whether the field has another name than its key, so that two keys may mean one field.
    var isRenamed: Bool {
        if case .asset(let size) = storage, size >= 0 { return true }
        return name != nil
    }

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
    /// A list of thousands costs this record nothing. The models' records get a second field, named
    /// like the first with `_position` behind it, which keeps their order.
    ///
    /// - Parameters:
    ///   - field: The field of the models' records that refers to this record.
    ///   - action: `.deleteSelf` deletes the models when this record is deleted; CloudKit lets at
    ///     most 750 records go so. With `.none` they stay, and
    ///     ``CloudKitRecordDestination/delete(_:progress:)`` deletes a graph with everything in it.
    ///   - isHierarchy: Whether this record becomes the `parent` of the models' records, so that
    ///     sharing it shares them.
    /// - Returns: What is special about the property.
    public static func children(
        via field: String,
        _ action: CKRecord.ReferenceAction = .none,
        isHierarchy: Bool = false
    ) -> CloudKitField {
        CloudKitField(relation: .children(field: field, action: action, isHierarchy: isHierarchy))
    }

    /// Says the type of the property, and nothing else about it.
    ///
    /// A table that names the type of each property is a schema: ``CloudKitSchema/init(of:describing:)``
    /// needs no sample then, and the records of models in the property are fetched early.
    public static func of(_ type: any Codable.Type) -> CloudKitField {
        CloudKitField(type: DeclaredType(type: type))
    }

    /// The same, with the type of the property.
    ///
    /// ```swift
    /// CodingKeys.photos: .children(via: "album").of([Photo].self)
    /// ```
    public func of(_ type: any Codable.Type) -> CloudKitField {
        var field = self
        field.type = DeclaredType(type: type)
        return field
    }

    /// The same under another name than the coding key.
    public func named(_ name: String) -> CloudKitField {
        var field = self
        field.name = name
        return field
    }
}
