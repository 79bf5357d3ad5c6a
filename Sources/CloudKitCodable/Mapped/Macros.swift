#if Macros
/// Turns a struct or a class into a model: adds its mapping, its field keys, and its support for
/// queries.
///
/// ```swift
/// @CloudKitRecord("Note")
/// struct Note {
///     @CloudKitField(.recordName) var id: UUID
///     var title: String
///     var count = 0
///     @CloudKitField("notes", .encrypted) var text: String?
///     @CloudKitValue var place: CLLocation?
/// }
/// ```
///
/// It adds the conformance to ``CloudKitMappedModel``, including `Codable`, the coding keys, and
/// `Fields`, with a ``CloudKitFieldKey`` for each property. Names that CloudKit reserves and types
/// that it cannot store are errors at the declaration. Members that the type declares itself, such as
/// `recordName`, `fields` or `CodingKeys`, are left alone.
///
/// A property with a default value keeps it when a record lacks the field, unless the property is an
/// optional. A declaration with an `init(from:)` or an `encode(to:)` is coded by these.
///
/// A class that is not final must declare `Codable` itself, because its subclasses need the
/// initializer.
///
/// - Parameter recordType: The record type; by default the name of the Swift type.
@attached(
    member,
    names: named(CodingKeys),
    named(init(fields:))
)
@attached(
    extension,
    conformances: CloudKitMappedModel,
    names: named(recordType),
    named(fields),
    named(recordName),
    named(mappedType),
    named(_isCodedByHand),
    named(codingKey(of:)),
    named(listProperties(in:)),
    named(init(fields:)),
    named(writeFields(to:)),
    named(Fields)
)
public macro CloudKitRecord(_ recordType: String? = nil) =
    #externalMacro(module: "CloudKitMacros", type: "CloudKitRecordMacro")

/// Specifies the storage of a property of a `@CloudKitRecord` type.
///
/// ```swift
/// @CloudKitField(.asset(above: 100_000)) var scan: Data
/// @CloudKitField(.reference(.deleteSelf)) var patient: Patient
/// @CloudKitField(.ignored) var isSelected = false
/// ```
///
/// - Parameter field: The property's entry in ``CloudKitModel/fields``. An ignored property is not
///   among the coding keys, and needs a default value.
@attached(peer)
public macro CloudKitField(_ field: CloudKitField) =
    #externalMacro(module: "CloudKitMacros", type: "CloudKitFieldMacro")

/// Renames the field of a property of a `@CloudKitRecord` type, and optionally specifies its storage.
///
/// ```swift
/// @CloudKitField("t") var title: String
/// @CloudKitField("n", .encrypted) var notes: String
/// ```
///
/// - Parameters:
///   - name: The name of the field.
///   - field: The property's entry in ``CloudKitModel/fields``.
@attached(peer)
public macro CloudKitField(_ name: String, _ field: CloudKitField? = nil) =
    #externalMacro(module: "CloudKitMacros", type: "CloudKitFieldMacro")
#endif
