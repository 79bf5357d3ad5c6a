public import CloudKit

/// The storage of a model's property, if it differs from the default for its type.
public struct CloudKitField: Sendable, Equatable {
    /// The form in which a value is stored.
    enum Storage: Sendable, Equatable {
        case automatic
        case encrypted
        case asset(above: Int)
        case json
        case recordName
        case ignored
    }

    /// The record that holds the reference between a model and the models in a property.
    enum Relation: Sendable, Equatable {
        case reference(CKRecord.ReferenceAction, isHierarchy: Bool)
        case children(field: String, action: CKRecord.ReferenceAction, isHierarchy: Bool)
    }

    var name: String?
    var storage = Storage.automatic
    var relation: Relation?

    /// The type of the property, if the table declares it.
    var type: DeclaredType?

    /// A type that can be compared.
    struct DeclaredType: @unchecked Sendable, Equatable {
        // @unchecked Sendable because a type is a constant.
        let type: Any.Type

        static func == (left: Self, right: Self) -> Bool { left.type == right.type }
    }

    /// `true` when the field's name differs from its key, so that two keys may share one field.
    var isRenamed: Bool {
        if case .asset(let size) = storage, size >= 0 { return true }
        return name != nil
    }

    /// Stores the value in the record's `encryptedValues`, encrypted before it leaves the device.
    ///
    /// Encrypted fields cannot be queried, and references cannot be encrypted.
    public static let encrypted = CloudKitField(storage: .encrypted)

    /// Stores the value as a file beside the record, whatever its size; for `Data` and other
    /// `Codable` values.
    public static let asset = CloudKitField(storage: .asset(above: -1))

    /// Stores the value as bytes in the record up to a size, and as a file beside the record above
    /// it.
    ///
    /// A field's type can never change, so the file is a second field, with the first field's name
    /// and the suffix `_asset`.
    ///
    /// - Parameter size: The largest number of bytes that stay in the record.
    /// - Returns: The property's storage.
    public static func asset(above size: Int) -> CloudKitField {
        CloudKitField(storage: .asset(above: max(0, size)))
    }

    /// Stores the value as JSON bytes, whatever its type: for values that are sometimes text and
    /// sometimes a structure, and for models that stay inside their parent's record.
    public static let json = CloudKitField(storage: .json)

    /// Uses the property, a `String` or a `UUID`, as the record's name instead of a field.
    public static let recordName = CloudKitField(storage: .recordName)

    /// Neither encodes nor decodes the property, which must be optional.
    public static let ignored = CloudKitField(storage: .ignored)

    /// Renames the field: its name differs from the coding key.
    public static func named(_ name: String) -> CloudKitField {
        CloudKitField(name: name)
    }

    /// Stores references to the models in the property in this record.
    ///
    /// - Parameters:
    ///   - action: `.deleteSelf` deletes this record when a model it refers to is deleted.
    ///   - isHierarchy: Whether this record becomes the `parent` of the models' records, so that
    ///     sharing it shares them.
    /// - Returns: The property's storage.
    public static func reference(
        _ action: CKRecord.ReferenceAction,
        isHierarchy: Bool = false
    ) -> CloudKitField {
        CloudKitField(relation: .reference(action, isHierarchy: isHierarchy))
    }

    /// Stores references to this record in the records of the models in the property.
    ///
    /// A list of thousands costs this record nothing. The models' records get a second field, with
    /// the first field's name and the suffix `_position`, which stores their order.
    ///
    /// - Parameters:
    ///   - field: The field of the models' records that refers to this record.
    ///   - action: `.deleteSelf` deletes the models when this record is deleted; CloudKit deletes at
    ///     most 750 records in this way. With `.none` they stay, and
    ///     ``CloudKitRecordDestination/delete(_:progress:)`` deletes a graph with everything in it.
    ///   - isHierarchy: Whether this record becomes the `parent` of the models' records, so that
    ///     sharing it shares them.
    /// - Returns: The property's storage.
    public static func children(
        via field: String,
        _ action: CKRecord.ReferenceAction = .none,
        isHierarchy: Bool = false
    ) -> CloudKitField {
        CloudKitField(relation: .children(field: field, action: action, isHierarchy: isHierarchy))
    }

    /// Declares the type of the property and changes nothing else.
    ///
    /// A table that declares the type of each property is a schema:
    /// ``CloudKitSchema/init(of:describing:)`` then needs no sample, and the records of models in the
    /// property are fetched early.
    public static func of(_ type: any Codable.Type) -> CloudKitField {
        CloudKitField(type: DeclaredType(type: type))
    }

    /// Returns the same storage with the type of the property.
    ///
    /// ```swift
    /// CodingKeys.photos: .children(via: "album").of([Photo].self)
    /// ```
    public func of(_ type: any Codable.Type) -> CloudKitField {
        var field = self
        field.type = DeclaredType(type: type)
        return field
    }

    /// Returns the same storage under another name than the coding key.
    public func named(_ name: String) -> CloudKitField {
        var field = self
        field.name = name
        return field
    }
}

/// The storage of a model's properties that differ from the default, by coding key.
///
/// ```swift
/// static var fields: CloudKitFields {
///     [
///         CodingKeys.diagnosis: .encrypted,
///         CodingKeys.scan: .asset,
///         CodingKeys.patient: .reference(.deleteSelf),
///     ]
/// }
/// ```
public struct CloudKitFields: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var byKey: [String: CloudKitField]

    /// The entries in their written order.
    let entries: [(key: String, field: CloudKitField)]

    /// The empty table, for models that use the defaults.
    static let nothing: CloudKitFields = [:]

    /// Creates the table; of two entries for one key, the later one counts.
    public init(dictionaryLiteral elements: (any CodingKey, CloudKitField)...) {
        let byKey = Dictionary(
            elements.map { ($0.0.stringValue, $0.1) },
            uniquingKeysWith: { _, later in later }
        )
        var seen: Set<String> = []
        entries = elements.compactMap { key, _ in
            let key = key.stringValue
            return seen.insert(key).inserted ? byKey[key].map { (key, $0) } : nil
        }
        self.byKey = byKey
    }

    /// The storage of a key's property; nil for the default.
    public subscript(key: any CodingKey) -> CloudKitField? { byKey[key.stringValue] }
}
