/// A model whose mapping is written out, property by property.
///
/// `@CloudKitRecord` of the trait `Macros` writes it:
///
/// ```swift
/// @CloudKitRecord("Note")
/// struct Note {
///     @CloudKitField(.recordName) var id: UUID
///     var title: String
///     @CloudKitField(.encrypted) var text: String?
/// }
/// let query = try Note.query(where: \.title == "Milk", sort: [.descending(.creationDate)])
/// ```
///
/// Encoders and decoders take the mapping instead of `encode(to:)` and `init(from:)`, and make the
/// same records and values of it.
public protocol CloudKitMappedModel: CloudKitModel {
    /// The type that the mapping is of; a subclass that does not write its own is coded by
    /// `encode(to:)` and `init(from:)`.
    static var mappedType: any CloudKitMappedModel.Type { get }

    /// Whether values say themselves which record they are. Do not write it: where the type is
    /// ``CloudKitRecordRepresentable`` it is true by itself.
    static var _isRepresentable: Bool { get }

    /// Whether coders use `encode(to:)` and `init(from:)`, because the declaration has them. Do not
    /// write it: the macro does.
    static var _isCodedByHand: Bool { get }

    /// The coding key of a stored property; nil for what is no field of its own.
    static func codingKey(of property: AnyKeyPath) -> (any CodingKey)?

    /// Lists the properties that are fields, with their types: what a schema is made of, and what
    /// loading a graph fetches early.
    static func listProperties(in list: inout CloudKitPropertyList)

    /// Reads the properties.
    ///
    /// - Throws: `DecodingError` with the path to the field.
    init(fields: inout CloudKitFieldReader) throws

    /// Writes the properties.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    func writeFields(to fields: inout CloudKitFieldWriter) throws
}

extension CloudKitMappedModel {
    /// False.
    @inlinable
    public static var _isSimple: Bool { false }

    /// The type itself.
    @inlinable
    public static var mappedType: any CloudKitMappedModel.Type { Self.self }

    /// Lists nothing: a mapping without a list needs a sample for its schema.
    public static func listProperties(in list: inout CloudKitPropertyList) {}

    /// False.
    @inlinable
    public static var _isRepresentable: Bool { false }

    /// False.
    @inlinable
    public static var _isCodedByHand: Bool { false }
}

extension CloudKitMappedModel where Self: CloudKitRecordRepresentable {
    /// False.
    @inlinable
    public static var _isSimple: Bool { false }

    /// True.
    @inlinable
    public static var _isRepresentable: Bool { true }
}
