import CloudKit
import Foundation

extension RecordEncoding {
    /// The most bytes that one value of a record may take.
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

    /// Stores a gathered container as JSON bytes.
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

    /// The JSON of a dictionary whose keys are no keys of JSON, in an order that is always the same;
    /// nil for other values.
    private func orderedBytes(of value: some Encodable, _ field: RecordField) throws -> Data? {
        guard let pairs = (value as? any EncodableDictionary)?.pairs else { return nil }
        let ordered =
            try pairs
            .map { (key: try bytes(of: $0, field), value: try bytes(of: $1, field)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .flatMap { [$0.key, $0.value] }
        return Data("[".utf8) + Data(ordered.joined(separator: Data(",".utf8))) + Data("]".utf8)
    }

    /// A value as JSON.
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

    /// Foundation writes a decimal that is no number as one that no JSON has.
    private func checkNumbers(_ data: Data, _ field: RecordField) throws {
        guard data.range(of: Data("NaN".utf8)) != nil,
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

    /// Whether new bytes are what the type writes for the bytes in the record: these may be of another
    /// version of the app, and sets are written in any order.
    ///
    /// That the values are equal is not enough: a type may compare nothing but an identifier.
    private func means<Value: Codable>(
        _ data: Data,
        the type: Value.Type,
        in field: RecordField,
        hasSets: @autoclosure () -> Bool
    ) -> Bool {
        guard let old = store(field).value(field.name, as: Data.self) else { return false }
        if old == data { return true }
        let decoder = JSONDecoder()
        guard let oldValue = try? decoder.decode(type, from: old),
            let written = try? orderedBytes(of: oldValue, field) ?? bytes(of: oldValue, field)
        else { return false }
        if written == data { return true }
        guard let oldValue = oldValue as? any Equatable,
            let newValue = try? decoder.decode(type, from: data), isEqual(oldValue, newValue),
            hasSets()
        else { return false }
        return UnorderedJSON.isSame(written, data)
    }

    private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
        value == other as? Value
    }
}
