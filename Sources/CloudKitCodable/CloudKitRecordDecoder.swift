public import CloudKit

/// Reads a `Codable` value from a record.
///
/// ```swift
/// let record = try await database.record(for: recordID)
/// let person = try CloudKitRecordDecoder().decode(Person.self, from: record)
/// ```
///
/// It reads fields in every form in which this module, or the library whose API this is, ever wrote
/// them. The keys `cloudKitSystemFields` and `cloudKitIdentifier` are read from the record itself.
final public class CloudKitRecordDecoder: Sendable {
    /// What `init(from:)` of the values can ask for.
    public let userInfo: [CodingUserInfoKey: any Sendable]

    /// Makes a decoder.
    public init() {
        userInfo = [:]
    }

    /// Makes a decoder whose values can ask for something.
    public init(userInfo: [CodingUserInfoKey: any Sendable]) {
        self.userInfo = userInfo
    }

    /// Reads a value from a record.
    ///
    /// - Throws: `DecodingError` with the path to the field, and a message that says which record
    ///   and field, what was expected and what was found.
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
            default: return try decoding.value(type, decoding.field(RecordEncoding.valueKey))
            }
        } catch let error as DecodingError where !error.message.contains("record ") {
            throw error.placed(below: [], CodingProblem.place(record))
        }
    }
}
