extension CKRecord {
    /// Sets a field, as key-value coding does on Apple platforms; nil clears it.
    public func setValue(_ value: Any?, forKey key: String) {
        self[field: key] = value.map { FieldValue(object: $0) }
    }

    /// The value of a field, as key-value coding gives it on Apple platforms.
    public func value(forKey key: String) -> Any? {
        object(forKey: key)
    }
}
