public import CloudKit
import CloudKitBasics
import Foundation

/// Encodes a `Codable` value into a record.
///
/// ```swift
/// let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(person)
/// try await database.save(record)
/// ```
///
/// A value that carries system fields becomes the record it was decoded from, so saving it is an
/// update, and its nil properties are cleared on the server. Nested values become JSON bytes. Nested
/// ``CloudKitModel`` values are records of their own, which ``CloudKitGraphEncoder`` creates.
public final class CloudKitRecordEncoder {
    // `encode` reads these once and calls nothing in between: the runtime's checks of exclusive
    // access would add to the cost of each value.

    /// The zone of new records; nil means the default zone.
    @exclusivity(unchecked)
    public var zoneID: CKRecordZone.ID?

    /// The forms in which values that a record cannot hold directly become fields.
    ///
    /// A ``CloudKitModel`` always uses the native forms, as in a graph.
    @exclusivity(unchecked)
    public var forms: CloudKitRecordForms

    /// The user info that `encode(to:)` of the values can read.
    @exclusivity(unchecked)
    public var userInfo: [CodingUserInfoKey: any Sendable]

    // Many callers create an encoder for each value. It stays on their stack, because everything they
    // call is inlined into them and passes the encoder to nobody.

    /// Creates an encoder for a zone; the default zone if none is given.
    @inlinable
    public init(zoneID: CKRecordZone.ID? = nil) {
        self.zoneID = zoneID
        forms = .original
        // One call fewer than the literal: this is part of each value's cost.
        userInfo = Dictionary()
    }

    @inlinable
    deinit {}

    /// Encodes a value into a record.
    ///
    /// A ``CloudKitRecordRepresentable`` value or a ``CloudKitModel`` determines its record type and
    /// name; for other values they are the name of the type and a new UUID.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    public func encode(_ value: some Encodable) throws -> CKRecord {
        let traits = TypeTraits.of(type(of: value))
        if traits.isRepresentable, let represented = value as? any CloudKitRecordRepresentable {
            if let systemFields = represented.cloudKitSystemFields {
                let record = try self.record(from: systemFields, of: represented)
                return try encode(
                    value,
                    record,
                    .systemFields,
                    traits,
                    traits.model?.fields.byKey ?? [:]
                )
            }
            let record = try Self.newRecord(
                represented.cloudKitRecordType,
                represented.cloudKitIdentifier,
                zoneID,
                of: type(of: value)
            )
            return try encode(value, record, .none, traits, traits.model?.fields.byKey ?? [:])
        }
        if let model = traits.model, let name = name(of: value, model) {
            let record = try Self.newRecord(model.recordType, name, zoneID, type(of: value))
            return try encode(value, record, .none, traits, model.fields.byKey)
        }
        let uuid = UUID().uuidString
        let record = try Self.newRecord(traits.name, uuid, zoneID, of: type(of: value))
        return try encode(value, record, .none, traits, [:])
    }

    /// The record name of a model; nil for a value of another type.
    ///
    /// A dynamic cast costs as much as three fields. It is needed only for an object whose variable
    /// has the type of its superclass.
    private func name<Value: Encodable, Model: CloudKitModel>(
        of value: Value,
        _ type: Model.Type
    ) -> String? {
        withExactCast(value, to: type) { $0.recordName }
            ?? (value as? any CloudKitModel)?.recordName
    }

    /// The record of archived system fields, if it has the value's type.
    private func record(
        from systemFields: Data,
        of value: any CloudKitRecordRepresentable
    ) throws -> CKRecord {
        let record = try SystemFieldsArchive.record(from: systemFields)
        guard record.recordType == value.cloudKitRecordType else {
            throw CloudKitRecordEncodingError.systemFieldsDecode(
                """
                they are of a record of type \(record.recordType), the value is a \
                \(value.cloudKitRecordType)
                """
            )
        }
        return record
    }

    /// The error for a value whose type or name is empty, which may have no message of its own.
    static func nameless(_ type: Any.Type) -> any Error {
        EncodingError.invalidValue(
            "a \(type)",
            .init(
                codingPath: [],
                debugDescription: "the type or the name of the record of a \(type) is empty"
            )
        )
    }

    /// Encodes a value into a known record and touches only the fields that differ.
    ///
    /// Fields that hold the same value stay untouched, so a save sends nothing for them. A property
    /// that is nil, or that the value does not write although its type could, is cleared; fields
    /// unknown to the type are kept. When encoding fails, part of the record may have been changed.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    public func encode(_ value: any Encodable, onto record: CKRecord) throws {
        let traits = TypeTraits.of(type(of: value))
        _ = try encode(value, record, .values, traits, traits.model?.fields.byKey ?? [:])
    }

    private func encode(
        _ value: any Encodable,
        _ record: CKRecord,
        _ baseline: RecordEncoding.Baseline,
        _ traits: TypeTraits,
        _ options: [String: CloudKitField]
    ) throws -> CKRecord {
        let encoding = RecordEncoding(
            record: record,
            baseline: baseline,
            // A model's fields have the same types, whichever encoder writes them.
            forms: traits.model == nil ? forms : .native,
            userInfo: userInfo,
            options: options,
            owners: traits.isClass ? FieldOwners() : nil
        )
        switch traits.kind {
        case .model, .other: try encoding.encode(value, traits)
        default: try encoding.store(value, encoding.field(RecordField.valueKey))
        }
        return try encoding.finish()
    }
}
