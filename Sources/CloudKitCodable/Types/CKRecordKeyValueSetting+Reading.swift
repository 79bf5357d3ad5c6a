public import CloudKit

extension CKRecordKeyValueSetting {
    /// Returns the value of a field as a type; nil when the field is empty or holds another type.
    @inline(__always)
    func value<Value: CKRecordValueProtocol>(_ name: String, as type: Value.Type) -> Value? {
        #if canImport(Darwin)
        // Apple's typed subscript ends the process when the field holds another type.
        object(forKey: name) as? Value
        #else
        self[name]
        #endif
    }
}

extension CKRecord {
    /// Returns the value of a field as a type; nil when the field is empty or holds another type.
    @inlinable
    @inline(__always)
    func field<Value: CKRecordValueProtocol>(_ name: String, as type: Value.Type) -> Value? {
        #if canImport(Darwin)
        // Apple's typed subscript ends the process when the field holds another type.
        object(forKey: name) as? Value
        #else
        self[name]
        #endif
    }
}
