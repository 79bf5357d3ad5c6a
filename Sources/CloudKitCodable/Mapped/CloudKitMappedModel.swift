public import CloudKit

/// A model with an explicit mapping, property by property.
///
/// The macro `@CloudKitRecord` of the trait `Macros` generates it:
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
/// Encoders and decoders use the mapping instead of `encode(to:)` and `init(from:)`; records and
/// values are the same.
public protocol CloudKitMappedModel: CloudKitModel {
    /// The type to which the mapping belongs; a subclass without its own mapping is coded by
    /// `encode(to:)` and `init(from:)`.
    static var mappedType: any CloudKitMappedModel.Type { get }

    /// A Boolean value that indicates whether values determine their own records. Do not implement
    /// it: it is `true` for ``CloudKitRecordRepresentable`` types.
    static var _isRepresentable: Bool { get }

    /// A Boolean value that indicates whether coders use `encode(to:)` and `init(from:)`, because the
    /// declaration has them. Do not implement it: the macro does.
    static var _isCodedByHand: Bool { get }

    /// Returns the coding key of a stored property; nil for a property that is not a field.
    static func codingKey(of property: AnyKeyPath) -> (any CodingKey)?

    /// Lists the properties that are fields, with their types, for schemas and for fetching records
    /// early.
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
    /// `false`, because the mapping codes the values.
    @inlinable
    public static var _isSimple: Bool { false }

    /// The type itself.
    @inlinable
    public static var mappedType: any CloudKitMappedModel.Type { Self.self }

    /// Lists nothing: a mapping without a list needs a sample for its schema.
    public static func listProperties(in list: inout CloudKitPropertyList) {}

    /// `false`, by default.
    @inlinable
    public static var _isRepresentable: Bool { false }

    /// `false`, by default.
    @inlinable
    public static var _isCodedByHand: Bool { false }
}

extension CloudKitMappedModel where Self: CloudKitRecordRepresentable {
    /// `false`, because the mapping codes the values.
    @inlinable
    public static var _isSimple: Bool { false }

    /// `true`, because values determine their records.
    @inlinable
    public static var _isRepresentable: Bool { true }
}

extension CloudKitRecordDecoder {
    /// Decodes a value with an explicit mapping.
    ///
    /// - Throws: `DecodingError` with the path to the field; its message names the record and the
    ///   field, the expected type and the type that was found.
    public func decode<T: CloudKitMappedModel>(
        _ type: T.Type,
        from record: CKRecord
    ) throws -> T {
        guard type.mappedType == type, !type._isCodedByHand else {
            return try decode(anyModel: type, from: record)
        }
        var fields = CloudKitFieldReader(record, type, self)
        return try T(fields: &fields)
    }

    private func decode<T: Decodable>(anyModel type: T.Type, from record: CKRecord) throws -> T {
        try decode(type, from: record)
    }
}
