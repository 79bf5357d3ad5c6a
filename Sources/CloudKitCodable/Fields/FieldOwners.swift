import CloudKit

/// The properties that wrote the fields of a record.
///
/// A class and its superclass, or two properties with one field name, would overwrite each other's
/// values: this is prevented or reported.
final class FieldOwners {
    private struct Owner {
        let key: String
        let keys: Any.Type
    }

    private var byField: [String: Owner] = [:]

    /// The types of properties that are nil, by field.
    var types: [String: Any.Type] = [:]

    /// Returns whether a property wrote a field, or cleared it.
    func contains(_ field: String) -> Bool { byField[field] != nil }

    /// Returns the key of the property that wrote a field.
    func key(of field: String) -> String? { byField[field]?.key }

    /// Notes the property that writes a field.
    ///
    /// - Returns: The reason why it cannot; nil when it can.
    func note(_ field: String, _ key: some CodingKey) -> String? {
        let name = key.stringValue
        guard let owner = byField[field] else {
            byField[field] = Owner(key: name, keys: type(of: key))
            return nil
        }
        if owner.key != name {
            return """
                the properties \(owner.key) and \(name) both have the field \(field); give one of \
                them another name
                """
        }
        guard owner.keys != type(of: key) else { return nil }
        return """
            \(String(reflecting: owner.keys)) and \(String(reflecting: type(of: key))) both have \
            the key \(name), and a class shares the record with its superclass; give one of the \
            two another coding key
            """
    }
}

/// The properties whose models refer to a record, by field.
struct ChildOwners {
    private var keys: [String: String] = [:]

    /// Notes a property.
    ///
    /// - Returns: The reason why it cannot be distinguished from another; nil when it can.
    mutating func note(_ type: CKRecord.RecordType, _ via: String, _ key: String) -> String? {
        let place = "\(type).\(via)"
        guard let other = keys[place], other != key else {
            keys[place] = key
            return nil
        }
        return """
            the \(type) models of \(other) and \(key) would all refer to this record through the \
            field \(via), which would mix them up: give one of them another field, \
            as .children(via: "\(via)_\(key)")
            """
    }
}
