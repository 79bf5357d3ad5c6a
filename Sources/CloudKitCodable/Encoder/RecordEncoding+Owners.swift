import CloudKit

/// Which property wrote which field of a record.
///
/// A class and its superclass, or two properties that are given one name, would write over each
/// other: they are kept apart, or told.
final class FieldOwners {
    private struct Owner {
        let key: String
        let keys: Any.Type
    }

    private var byField: [String: Owner] = [:]

    /// The types of properties that are nil, by field.
    var types: [String: Any.Type] = [:]

    /// Whether a property wrote a field, or cleared it.
    func contains(_ field: String) -> Bool { byField[field] != nil }

    /// The key of the property that wrote a field.
    func key(of field: String) -> String? { byField[field]?.key }

    /// Notes who writes a field.
    ///
    /// - Returns: Why it cannot; nil when it can.
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

extension RecordEncoding {
    /// Notes that a property writes a field; two cannot.
    @inline(never)
    func note(_ name: String, _ key: some CodingKey) throws {
        if let problem = owners?.note(name, key) { throw error(name, key, problem) }
    }

    /// Notes that models of a type refer to this record for a property; two lists of them would be
    /// one when they are read.
    func noteChildren(_ type: Any.Type, _ via: String, _ key: some CodingKey) throws {
        let model = (type as? any ModelList.Type)?.modelType ?? (type as? any CloudKitModel.Type)
        guard graph != nil, let model else { return }
        let problem = childOwners.note(model.recordType, via, key.stringValue)
        if let problem { throw error(key.stringValue, key, problem) }
    }
}

/// Which property the models belong to that refer to a record through a field.
struct ChildOwners {
    private var keys: [String: String] = [:]

    /// Notes a property.
    ///
    /// - Returns: Why it cannot be told from another; nil when it can.
    mutating func note(_ type: CKRecord.RecordType, _ via: String, _ key: String) -> String? {
        let place = "\(type).\(via)"
        guard let other = keys[place], other != key else {
            keys[place] = key
            return nil
        }
        return """
            the \(type) models of \(other) and \(key) would all refer to this record through the \
            field \(via), and nobody could tell them apart: give one of them another field, \
            as .children(via: "\(via)_\(key)")
            """
    }
}
