import Foundation

extension CKRecord {
    private func set(_ value: Any?, _ key: String) {
        self[field: key] = value.map { FieldValue(object: $0) }
    }

    private func values(_ keys: [String]) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values[key] = object(forKey: key) as Any? ?? NSNull() }
        return values
    }
}

#if canImport(ObjectiveC)
extension CKRecord {
    /// Sets a field; nil clears it.
    public override func setValue(_ value: Any?, forKey key: String) { set(value, key) }

    /// Returns a field's value.
    public override func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Sets fields; `NSNull` clears one.
    public override func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { set(value is NSNull ? nil : value, key) }
    }

    /// Returns the values of fields, with `NSNull` for empty ones.
    public override func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        values(keys)
    }
}
#else
extension CKRecord {
    /// Sets a field, as key-value coding does on Apple platforms; nil clears it.
    public func setValue(_ value: Any?, forKey key: String) { set(value, key) }

    /// Returns a field's value, as key-value coding does on Apple platforms.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Sets fields, as key-value coding does on Apple platforms; `NSNull` clears one.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { set(value is NSNull ? nil : value, key) }
    }

    /// Returns the values of fields, with `NSNull` for empty ones, as key-value coding does on
    /// Apple platforms.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] { values(keys) }
}
#endif
