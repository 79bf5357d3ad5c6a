import Foundation

extension CKRecord {
    /// Sets a field, as key-value coding does on Apple platforms; nil clears it.
    public func setValue(_ value: Any?, forKey key: String) {
        self[field: key] = value.map { FieldValue(object: $0) }
    }

    /// The value of a field, as key-value coding gives it on Apple platforms.
    public func value(forKey key: String) -> Any? {
        object(forKey: key)
    }

    /// Sets fields, as key-value coding does on Apple platforms; `NSNull` clears one.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The values of fields, as key-value coding gives them on Apple platforms: `NSNull` for empty
    /// ones.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
    }
}
