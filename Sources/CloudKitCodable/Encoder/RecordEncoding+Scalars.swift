import CloudKit
import Foundation

// The hot path: a scalar is stored in its field through the typed subscript, unboxed.
extension RecordEncoding {
    /// Stores a scalar under a key.
    @inline(__always)
    func store<Value: CKRecordValueProtocol & Encodable & Equatable>(
        _ value: Value,
        forKey key: some CodingKey
    ) throws {
        if isPlain {
            let name = key.stringValue
            if let problem = FieldName.problem(name, strict: forms == .native) {
                throw error(name, key, problem)
            }
            record[name] = value
        } else {
            try store(value, field(key))
        }
    }

    /// Stores a scalar in a field, only if it differs from the field's value where that is known.
    func store<Value: CKRecordValueProtocol & Encodable & Equatable>(
        _ value: Value,
        _ field: RecordField
    ) throws {
        if field.options == nil, let object = try graph?.dialect?.form(of: value) {
            return try storeObject(object, field)
        }
        switch field.options?.storage {
        case nil, .automatic?:
            try check(field.name, field.key)
            record.set(value, field.name, unlessEqual: baseline == .values)
        case .encrypted?:
            try check(field.name, field.key)
            record.encryptedValues.set(value, field.name, unlessEqual: baseline == .values)
        case .asset(let size)?: try storeAsset(of: value, above: size, field)
        case .json?: try storeJSON(of: value, field)
        case .recordName?: try checkRecordName(value, field)
        case .ignored?: break
        }
    }

    /// Throws an error for a name that no field can have, because the record would end the process.
    @inline(__always)
    func check(_ name: String, _ key: some CodingKey) throws {
        if let problem = FieldName.problem(name, strict: forms == .native) {
            throw error(name, key, problem)
        }
        if owners != nil { try note(name, key) }
    }

    /// Clears a field, if there is something to clear.
    func clear(_ field: RecordField) throws {
        switch field.options?.storage {
        case .recordName?, .ignored?: return
        default: if owners != nil { try note(field.name, field.key) }
        }
        guard baseline != .none else { return }
        switch field.options?.storage {
        case .encrypted?:
            try check(field.name, field.key)
            record.encryptedValues.clear(field.name, unlessAbsent: baseline == .values)
        case .asset(let size)? where size >= 0:
            try check(field.name, field.key)
            record.clear(field.name, unlessAbsent: baseline == .values)
            record.clear(field.name + RecordField.assetSuffix, unlessAbsent: baseline == .values)
        default:
            try check(field.name, field.key)
            record.clear(field.name, unlessAbsent: baseline == .values)
        }
    }

    /// Clears the field of a key, if there is something to clear.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of the property when it is not nil; nil for a scalar.
    /// - Throws: `EncodingError.invalidValue` when the field cannot be the property's.
    func clear(_ key: some CodingKey, of type: Any.Type? = nil) throws {
        guard baseline != .none || owners != nil || options != nil else { return }
        if key.stringValue == _CKSystemFieldsKeyName { return }
        if let type, owners != nil { owners?.types[field(key).name] = type }
        if case .children(let via, _, _)? = options?[key.stringValue]?.relation {
            if let type { try noteChildren(type, via, key) }
            return
        }
        try clear(field(key))
    }
}

extension CKRecordKeyValueSetting {
    /// Sets a field, unless it already has this value.
    fileprivate func set<Value: CKRecordValueProtocol & Equatable>(
        _ value: Value,
        _ name: String,
        unlessEqual: Bool
    ) {
        if unlessEqual, let old = self.value(name, as: Value.self), isSame(old, value) { return }
        let target = self
        target[name] = value
    }

    /// Returns whether two values are identical, even if equal values can differ.
    private func isSame<Value: Equatable>(_ old: Value, _ new: Value) -> Bool {
        guard old == new else { return false }
        return switch Value.self {
        case is String.Type, is [String].Type, is Double.Type, is [Double].Type:
            CKRecord.isSame(old, new)
        default: true
        }
    }

    /// Clears a field, unless it has no value.
    func clear(_ name: String, unlessAbsent: Bool) {
        if unlessAbsent, object(forKey: name) == nil { return }
        setObject(nil, forKey: name)
    }
}
