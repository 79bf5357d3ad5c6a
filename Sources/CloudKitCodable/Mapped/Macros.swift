#if Macros
/// Makes a model of a struct or a class: its mapping, its field keys, and what queries need.
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
/// It adds the conformance to ``CloudKitMappedModel``, `Codable` among it, the coding keys, and
/// `Fields`, with a ``CloudKitFieldKey`` for each property. Names that CloudKit keeps for itself and
/// types that it cannot store are errors at the declaration. What the type declares itself, such as
/// `recordName`, `fields` or `CodingKeys`, is left to it.
///
/// A property with a value in its declaration keeps it when a record has no such field, unless it is
/// an optional. A declaration with an `init(from:)` or an `encode(to:)` is coded by these.
///
/// A class that is not final declares `Codable` itself, because its subclasses need the initializer.
///
/// - Parameter recordType: The record type; the name of the Swift type unless given.
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

/// Says what is special about a property of a `@CloudKitRecord`, at the property.
///
/// ```swift
/// @CloudKitField(.asset(above: 100_000)) var scan: Data
/// @CloudKitField(.reference(.deleteSelf)) var patient: Patient
/// @CloudKitField(.ignored) var isSelected = false
/// ```
///
/// - Parameter field: What ``CloudKitModel/fields`` would say. An ignored property is in no coder's
///   keys, and needs a default value.
@attached(peer)
public macro CloudKitField(_ field: CloudKitField) =
    #externalMacro(module: "CloudKitMacros", type: "CloudKitFieldMacro")

/// Gives the field of a property of a `@CloudKitRecord` another name, and may say what else is
/// special about it.
///
/// ```swift
/// @CloudKitField("t") var title: String
/// @CloudKitField("n", .encrypted) var notes: String
/// ```
///
/// - Parameters:
///   - name: The name of the field.
///   - field: What ``CloudKitModel/fields`` would say.
@attached(peer)
public macro CloudKitField(_ name: String, _ field: CloudKitField? = nil) =
    #externalMacro(module: "CloudKitMacros", type: "CloudKitFieldMacro")
#endif
