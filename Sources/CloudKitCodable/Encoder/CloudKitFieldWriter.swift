public import CloudKit

/// Writes the fields of a record for a model's mapping.
///
/// Plain values of a new record are assignments; all other values take the same path as in
/// `encode(to:)`.
public struct CloudKitFieldWriter {
    @usableFromInline let record: CKRecord

    /// `true` when plain values are assigned without looking at the field's present value.
    @usableFromInline let isAssigning: Bool

    /// `true` when there is nothing that nil could clear.
    @usableFromInline let isNew: Bool

    private let baseline: RecordEncoding.Baseline
    private let model: any CloudKitModel.Type
    private let userInfo: [CodingUserInfoKey: any Sendable]

    /// Created for the first value that is not plain.
    private var encoding: RecordEncoding?

    /// Creates the writer of a new record.
    @usableFromInline
    init(
        new record: CKRecord,
        _ model: any CloudKitModel.Type,
        _ userInfo: [CodingUserInfoKey: any Sendable]
    ) {
        self.record = record
        baseline = .none
        self.model = model
        self.userInfo = userInfo
        isAssigning = true
        isNew = true
    }

    /// Creates the writer of an encoding that has begun.
    init(_ encoding: RecordEncoding, _ model: any CloudKitModel.Type) {
        record = encoding.record
        baseline = encoding.baseline
        self.model = model
        userInfo = encoding.sendableUserInfo
        self.encoding = encoding
        isAssigning = baseline != .values
        isNew = baseline == .none
    }

    /// Returns the encoding of all values that are not plain.
    private mutating func resolved() -> RecordEncoding {
        if let encoding { return encoding }
        let made = RecordEncoding(
            record: record,
            baseline: baseline,
            forms: .native,
            userInfo: userInfo,
            options: model.fields.byKey
        )
        made.model = model
        encoding = made
        return made
    }

    /// Stores the values that had to wait until all others were written.
    @usableFromInline
    func finish() throws -> CKRecord {
        try encoding?.finish() ?? record
    }

    // MARK: Plain fields

    /// Writes a plain value to a field for which the model specifies at most a name.
    @inlinable @inline(__always)
    public mutating func write<Value: CloudKitPlainValue>(
        _ value: Value,
        _ name: String,
        _ key: some CodingKey
    ) throws {
        if isAssigning, value._isStorable {
            record[name] = value
        } else {
            try store(value, key)
        }
    }

    /// Writes a plain value, or clears its field.
    @inlinable
    public mutating func write<Value: CloudKitPlainValue>(
        _ value: Value?,
        _ name: String,
        _ key: some CodingKey
    ) throws {
        if let value {
            try write(value, name, key)
        } else if !isNew {
            try clear(key)
        }
    }

    /// Writes a value of any type.
    @inlinable
    public mutating func write<Value: Encodable>(
        _ value: Value,
        _ name: String,
        _ key: some CodingKey
    ) throws {
        try encode(value, forKey: key)
    }

    /// Writes a value of any type, or clears its field.
    @inlinable
    public mutating func write<Value: Encodable>(
        _ value: Value?,
        _ name: String,
        _ key: some CodingKey
    ) throws {
        try encode(value, forKey: key)
    }

    @usableFromInline
    mutating func store<Value: CloudKitPlainValue>(
        _ value: Value,
        _ key: some CodingKey
    ) throws {
        // A value that cannot be stored is reported there.
        guard value._isStorable else { return try encode(value, forKey: key) }
        let encoding = resolved()
        try encoding.store(value, encoding.field(key))
    }

    @usableFromInline
    mutating func clear(_ key: some CodingKey) throws {
        try resolved().clear(key)
    }

    // MARK: Other fields

    /// Writes a value with the storage that ``CloudKitModel/fields`` specifies for its key.
    public mutating func encode<Value: Encodable>(
        _ value: Value,
        forKey key: some CodingKey
    ) throws {
        try resolved().store(value, forKey: key)
    }

    /// Writes a value with the storage that ``CloudKitModel/fields`` specifies for its key, or clears
    /// its field.
    public mutating func encode<Value: Encodable>(
        _ value: Value?,
        forKey key: some CodingKey
    ) throws {
        if let value {
            try resolved().store(value, forKey: key, isWithinOptional: true)
        } else {
            try resolved().clear(key, of: Value.self)
        }
    }

    // MARK: The record's name

    /// Checks that a property that holds the record's name agrees with the record.
    public mutating func recordName(_ name: String, _ key: some CodingKey) throws {
        if name != record.recordID.recordName { try encode(name, forKey: key) }
    }

    /// Checks that a property that holds the record's name agrees with the record.
    public mutating func recordName(_ name: UUID, _ key: some CodingKey) throws {
        if name.uuidString != record.recordID.recordName { try encode(name, forKey: key) }
    }

    /// Returns the record's name that a property holds.
    public static func recordName(of name: String) -> String { name }

    /// Returns the record's name that a property holds.
    public static func recordName(of name: UUID) -> String { name.uuidString }
}
