public import CloudKit
import CloudKitBasics
import Foundation

/// Makes a record of a `Codable` value.
///
/// ```swift
/// let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(person)
/// try await database.save(record)
/// ```
///
/// A value that carries system fields becomes the record that it was read from, so that saving it
/// is an update, and what is nil in it is cleared on the server. Values within the value become
/// JSON bytes. Models within a ``CloudKitModel`` are records of their own, which
/// ``CloudKitGraphEncoder`` makes.
public final class CloudKitRecordEncoder {
    // `encode` reads these once, and calls nothing meanwhile: the runtime's checks of exclusive access
    // would be a part of each value's cost.

    /// The zone of new records; nil for the default zone.
    @exclusivity(unchecked)
    public var zoneID: CKRecordZone.ID?

    /// In which form values that a record cannot hold as they are become fields.
    ///
    /// A ``CloudKitModel`` always has the native forms, as in a graph.
    @exclusivity(unchecked)
    public var forms: CloudKitRecordForms

    /// What `encode(to:)` of the values can ask for.
    @exclusivity(unchecked)
    public var userInfo: [CodingUserInfoKey: any Sendable]

    // Many make an encoder for each value. It stays on their stack, because all that they call is
    // inlined into them and hands the encoder to nobody.

    /// Makes an encoder for a zone, the default zone unless given.
    @inlinable
    public init(zoneID: CKRecordZone.ID? = nil) {
        self.zoneID = zoneID
        forms = .original
        // A call less than the literal: this is part of each value's cost.
        userInfo = Dictionary()
    }

    @inlinable
    deinit {}

    /// Makes the record of a value.
    ///
    /// The record type and name are what the value says if it is ``CloudKitRecordRepresentable`` or
    /// a ``CloudKitModel``, else the name of its type and a new UUID.
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
    /// A dynamic cast costs as much as three fields. It is left for an object whose variable is of its
    /// superclass.
    private func name<Value: Encodable, Model: CloudKitModel>(
        of value: Value,
        _ type: Model.Type
    ) -> String? {
        withExactCast(value, to: type) { $0.recordName }
            ?? (value as? any CloudKitModel)?.recordName
    }

    /// The record of archived system fields, if it is of the value's type.
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

    /// The error for a value whose type or name is empty, which may have no text of its own.
    static func nameless(_ type: Any.Type) -> any Error {
        EncodingError.invalidValue(
            "a \(type)",
            .init(
                codingPath: [],
                debugDescription: "the type or the name of the record of a \(type) is empty"
            )
        )
    }

    /// Puts a value into a record that is known, and touches only what differs.
    ///
    /// Fields that hold the same value stay untouched, so that a save sends nothing for them; what
    /// is nil in the value, or is not written by it though its type could, is cleared; fields that the
    /// type does not know are kept. When encoding fails the record may have been changed in part.
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
            // A model's fields have one type, whoever writes them.
            forms: traits.model == nil ? forms : .native,
            userInfo: userInfo,
            options: options,
            owners: traits.isClass ? FieldOwners() : nil
        )
        switch traits.kind {
        case .model, .other: try encoding.encode(value, traits)
        default: try encoding.store(value, encoding.field(RecordEncoding.valueKey))
        }
        return try encoding.finish()
    }
}
