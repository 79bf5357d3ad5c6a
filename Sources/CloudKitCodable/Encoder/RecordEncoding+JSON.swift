import CloudKit
import Foundation

extension RecordEncoding {
    /// The maximum number of bytes in one value of a record.
    static let largestValue = 1_000_000

    /// Stores a value as JSON bytes.
    func storeJSON<Value: Encodable>(of value: Value, _ field: RecordField) throws {
        try checkModels(in: value, field)
        let data = try orderedBytes(of: value, field) ?? bytes(of: value, field)
        try checkFiles(in: value, data, field)
        if baseline == .values, let type = Value.self as? any Codable.Type,
            means(data, the: type, in: field, hasSets: holdsSets(value))
        {
            return
        }
        try storeBytes(data, field)
    }

    /// Stores a collected container as JSON bytes.
    func storeJSON(_ tree: FieldTree, _ field: RecordField) throws {
        try checkModels(in: tree, field)
        let data = try bytes(of: tree, field)
        try checkFiles(in: tree, data, field)
        try storeBytes(data, field)
    }

    /// Stores the JSON bytes of a value.
    func storeBytes(_ data: Data, _ field: RecordField) throws {
        guard data.count < Self.largestValue else {
            throw CloudKitRecordEncodingError.dataFieldTooLarge(key: field.name, size: data.count)
        }
        var field = field
        if field.options?.storage == .json {
            field = RecordField(name: field.name, key: field.key, options: nil)
        }
        try store(data, field)
    }

    /// Returns the JSON of a dictionary whose keys are not JSON keys, in a stable order; nil for
    /// other values.
    private func orderedBytes(of value: some Encodable, _ field: RecordField) throws -> Data? {
        guard let pairs = (value as? any EncodableDictionary)?.pairs else { return nil }
        let ordered =
            try pairs
            .map { (key: try bytes(of: $0, field), value: try bytes(of: $1, field)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .flatMap { [$0.key, $0.value] }
        return Data("[".utf8) + Data(ordered.joined(separator: Data(",".utf8))) + Data("]".utf8)
    }

    /// Returns a value as JSON.
    func bytes(of value: some Encodable, _ field: RecordField) throws -> Data {
        do {
            let data = try json.encode(value)
            try checkNumbers(data, field)
            return data
        } catch EncodingError.invalidValue(let value, let context) {
            let isNoNumber =
                (value as? Double)?.isFinite == false || (value as? Float)?.isFinite == false
            let remedy = isNoNumber ? " Make the property optional, or a string." : ""
            throw EncodingError.invalidValue(
                value,
                .init(
                    codingPath: codingPath + [field.key] + context.codingPath,
                    debugDescription:
                        "\(CodingProblem.place(record)): \(context.debugDescription)\(remedy)",
                    underlyingError: context.underlyingError
                )
            )
        }
    }

    /// Checks for decimals that are not numbers, which Foundation writes as text that is not JSON.
    private func checkNumbers(_ data: Data, _ field: RecordField) throws {
        guard data.range(of: Data("NaN".utf8)) != nil,
            // Only whether it can be parsed counts.
            (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) == nil
        else { return }
        throw EncodingError.invalidValue(
            "NaN",
            .init(
                codingPath: [],
                debugDescription: "a decimal is not a number; make the property optional"
            )
        )
    }

    /// Returns whether new bytes mean the same to the type as the bytes in the record, which another
    /// version of the app may have written, with sets in any order.
    ///
    /// Equality is not enough, because a type may compare nothing but an identifier.
    private func means<Value: Codable>(
        _ data: Data,
        the type: Value.Type,
        in field: RecordField,
        hasSets: @autoclosure () -> Bool
    ) -> Bool {
        guard let old = store(field).value(field.name, as: Data.self) else { return false }
        if old == data { return true }
        let decoder = JSONDecoder()
        // Stored bytes that cannot be read differ from the new ones.
        guard let oldValue = try? decoder.decode(type, from: old),
            let written = try? orderedBytes(of: oldValue, field) ?? bytes(of: oldValue, field)
        else { return false }
        if written == data { return true }
        guard let oldValue = oldValue as? any Equatable,
            // As above.
            let newValue = try? decoder.decode(type, from: data), isEqual(oldValue, newValue),
            hasSets()
        else { return false }
        return UnorderedJSON.isSame(written, data)
    }

    private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
        value == other as? Value
    }
}
