public import CloudKit

/// Decodes a `Codable` value from a record.
///
/// ```swift
/// let record = try await database.record(for: recordID)
/// let person = try CloudKitRecordDecoder().decode(Person.self, from: record)
/// ```
///
/// Fields are decoded from every form in which this module, or the library whose API it has, ever
/// stored them. The keys `cloudKitSystemFields` and `cloudKitIdentifier` are decoded from the record
/// itself.
final public class CloudKitRecordDecoder: Sendable {
    /// The user info that `init(from:)` of the values can read.
    public let userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates a decoder without user info.
    public init() {
        userInfo = [:]
    }

    /// Creates a decoder with user info for `init(from:)` of the values.
    public init(userInfo: [CodingUserInfoKey: any Sendable]) {
        self.userInfo = userInfo
    }

    /// Decodes a value from a record.
    ///
    /// - Throws: `DecodingError` with the path to the field; its message names the record and the
    ///   field, the expected type and the type that was found.
    public func decode<T>(_ type: T.Type, from record: CKRecord) throws -> T where T: Decodable {
        let kind = FieldKind.of(type)
        let model = kind == .model ? type as? any CloudKitModel.Type : nil
        let decoding = RecordDecoding(
            record: record,
            forms: model == nil ? .original : .native,
            userInfo: userInfo,
            options: model?.fields.byKey ?? [:]
        )
        do {
            switch kind {
            case .model, .other: return try decoding.decode(type)
            default: return try decoding.value(type, decoding.field(RecordField.valueKey))
            }
        } catch let error as DecodingError where !error.message.contains("record ") {
            throw error.placed(below: [], CodingProblem.place(record))
        }
    }
}
