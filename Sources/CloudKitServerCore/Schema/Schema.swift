import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The record types of an environment.
struct Schema: Hashable, Sendable, Codable {
    /// The types by name.
    var types: [String: RecordTypeSchema] = [:]
    /// Roles other than the built-in ones, by name.
    var roles: Set<String> = []
    /// The number of the next field; numbers are never reused.
    private var nextNumber: Int64 = 1

    /// Reads the output of `encoded`; nil is the empty schema.
    init(_ data: Data?) throws(StorageError) {
        guard let data else {
            self.init()
            return
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw StorageError(.corrupt, "A stored schema cannot be read: \(error)")
        }
    }

    private init() {}

    /// Returns the stored form of the schema.
    func encoded() throws -> Data { try JSONEncoder().encode(self) }

    /// Returns a new number for a field.
    mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Adds a type that a save requires.
    mutating func addType(_ name: String, indexesSystemFields: Bool) {
        var type = RecordTypeSchema(number: takeNumber())
        if indexesSystemFields {
            for field in SystemField.allCases where field != .share && field != .parent {
                type.fields[field.schemaName] = FieldSchema(
                    FieldType(field.type),
                    indexes: .values,
                    number: field == .recordName ? type.number : takeNumber()
                )
            }
        }
        types[name] = type
    }
}
