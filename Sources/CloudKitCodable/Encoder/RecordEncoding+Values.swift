import CloudKit
import CloudKitBasics
import Foundation

// Values that are not scalars, by type. Comparing metatypes costs a nanosecond, and a dynamic cast
// fifty.
extension RecordEncoding {
    /// Stores a value under a key, optional or not.
    func store<Value: Encodable>(
        _ value: Value,
        forKey key: some CodingKey,
        isWithinOptional: Bool = false
    ) throws {
        if let date = exactCast(value, to: Date.self) {
            try store(try finite(date, key), forKey: key)
        } else if let data = exactCast(value, to: Data.self) {
            try store(data, key)
        } else if let data = exactCast(value, to: Data?.self),
            key.stringValue == _CKSystemFieldsKeyName
        {
            // A hand-written encode(to:) encodes the property as it is, optional.
            if let data { try store(data, key) }
        } else {
            var field = field(key)
            field.isWithinOptional = isWithinOptional
            try store(value, field)
        }
    }

    /// Stores bytes, or extracts the system fields from them.
    private func store(_ data: Data, _ key: some CodingKey) throws {
        if key.stringValue == _CKSystemFieldsKeyName {
            // Known already, if the value has them as a property.
            if baseline == .none { adopt(try SystemFieldsArchive.record(from: data)) }
        } else {
            try store(data, forKey: key)
        }
    }

    /// Stores a value in a field.
    func store<Value: Encodable>(_ value: Value, _ field: RecordField) throws {
        if let options = field.options {
            switch options.storage {
            case .json, .asset:
                if let optional = value as? any OptionalValue, optional.wrapped == nil {
                    try checkNull(field)
                    return try clear(field)
                }
            default: break
            }
            switch options.storage {
            case .json: return try storeJSON(of: value, field)
            case .asset(let size): return try storeAsset(of: value, above: size, field)
            case .recordName: return try checkRecordName(value, field)
            case .ignored: return
            case .automatic, .encrypted: break
            }
        }
        if let dialect = graph?.dialect, try store(value, field, as: dialect) { return }
        if try storeKnown(value, field) { return }
        switch FieldKind.of(Value.self) {
        case .model: try storeModel(value, field)
        case .modelList: try storeModels(value, field)
        case .nativeField: try storeNative(value, field)
        case .reference: try storeReference(value, field)
        case .stringEnum, .integerEnum: try storeRawValue(value, field)
        case .assetValue: try storeAssetValue(value, field)
        case .optional: try storeOptional(value, field)
        case .list: try storeList(value, field)
        case .set: try storeSet(value, field)
        case .other: try storeOther(value, field)
        }
    }

    /// Stores a value of a type that is known by name and returns `true`; returns `false` for other
    /// types.
    private func storeKnown<Value: Encodable>(
        _ value: Value,
        _ field: RecordField
    ) throws -> Bool {
        if let string = exactCast(value, to: String.self) {
            try store(string, field)
        } else if let integer = exactCast(value, to: Int.self) {
            try store(integer, field)
        } else if let flag = exactCast(value, to: Bool.self) {
            try store(flag, field)
        } else if let double = exactCast(value, to: Double.self) {
            try store(try finite(double, field.key), field)
        } else if let date = exactCast(value, to: Date.self) {
            try store(try finite(date, field.key), field)
        } else if let data = exactCast(value, to: Data.self) {
            try store(data, field)
        } else if let strings = exactCast(value, to: [String].self) {
            try store(strings, field)
        } else if let integers = exactCast(value, to: [Int].self) {
            try store(integers, field)
        } else if let doubles = exactCast(value, to: [Double].self) {
            try store(try doubles.map { try finite($0, field.key) }, field)
        } else if let dates = exactCast(value, to: [Date].self) {
            try store(try dates.map { try finite($0, field.key) }, field)
        } else if let url = exactCast(value, to: URL.self) {
            try store(url, field)
        } else if forms == .native, let uuid = exactCast(value, to: UUID.self) {
            try store(uuid.uuidString, field)
        } else if forms == .native, let decimal = exactCast(value, to: Decimal.self) {
            try store(try finite(decimal, field.key).text, field)
        } else if let integer = value as? any FixedWidthInteger {
            try store(try signed(integer, field.key), field)
        } else if let float = exactCast(value, to: Float.self) {
            try store(try finite(Double(float), field.key), field)
        } else {
            return false
        }
        return true
    }

    /// Returns an integer in CloudKit's range.
    func signed(_ value: some BinaryInteger, _ key: some CodingKey) throws -> Int64 {
        guard let signed = Int64(exactly: value) else {
            throw error(
                value,
                key,
                "\(value) is out of the range of INT64; store it as a string"
            )
        }
        return signed
    }

    private func storeOptional(_ value: some Encodable, _ field: RecordField) throws {
        if let wrapped = (value as? any OptionalValue)?.wrapped {
            var inner = field
            inner.isWithinOptional = true
            try store(wrapped, inner)
        } else {
            try checkNull(field)
            try clear(field.key, of: (type(of: value) as? any OptionalValue.Type)?.wrappedType)
        }
    }

    /// Checks that a null is not the value of an optional, which would be decoded as nil.
    private func checkNull(_ field: RecordField) throws {
        guard field.isWithinOptional, forms == .native else { return }
        throw error(
            "nil",
            field.key,
            """
            the optional property holds a value that is null itself, as .some(nil) is, and would \
            come back as nil, because a record has only one form of nil; make it nil, or \
            express the difference with an enumeration
            """
        )
    }

    private func storeRawValue(_ value: some Encodable, _ field: RecordField) throws {
        if let value = value as? any CloudKitStringEnum {
            if try keepsUnknown(value, field) { return }
            try store(value.rawValue, field)
        } else if let value = value as? any CloudKitIntEnum {
            if try keepsUnknown(value, field) { return }
            try store(value.rawValue, field)
        }
    }

    /// Returns whether the record holds a raw value that this version of the app does not know, and
    /// the value is the one that was decoded from it: a newer version's case stays.
    private func keepsUnknown<Case: RawRepresentable & CloudKitEnum>(
        _ value: Case,
        _ field: RecordField
    ) throws -> Bool where Case.RawValue: Equatable {
        guard baseline == .values, let fallback = Case.cloudKitFallbackCase,
            value.rawValue == fallback.rawValue, let old = store(field).object(forKey: field.name),
            let raw = FieldScalar.value(old, as: Case.RawValue.self), Case(rawValue: raw) == nil
        else { return false }
        try check(field.name, field.key)
        return true
    }

    /// Stores a single value directly, and a structure as JSON.
    private func storeOther(_ value: some Encodable, _ field: RecordField) throws {
        guard forms == .native else { return try storeJSON(of: value, field) }
        let probe = FieldProbe(path: codingPath + [field.key], userInfo: userInfo) { scalar in
            guard let scalar else {
                try self.checkNull(field)
                return try self.clear(field)
            }
            try self.check(value, isReadAs: scalar, field)
            try self.store(scalar, field)
        }
        try value.encode(to: probe)
        if probe.isStructure { try storeJSON(of: value, field) }
    }

    /// Checks that a property that holds the record's name agrees with the record.
    func checkRecordName(_ value: some Encodable, _ field: RecordField) throws {
        let name =
            switch value {
            case let name as String: name
            case let identifier as UUID: identifier.uuidString
            default:
                throw error(value, field.key, "a record's name is a String or a UUID property")
            }
        guard name == record.recordID.recordName else {
            throw error(
                value,
                field.key,
                "the property is the record's name, but recordName differs"
            )
        }
    }
}

extension Decimal {
    /// The number in full, the same in every locale.
    var text: String { NSDecimalNumber(decimal: self).description(withLocale: nil) }
}
