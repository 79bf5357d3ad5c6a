import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Checks saves against the schema, and extends the schema in development.
struct SchemaRules: Sendable {
    private(set) var schema: Schema
    private(set) var isChanged = false
    /// The types, and the number of fields, that were added by this batch.
    private(set) var newTypes: Set<String> = []
    private(set) var newFields = 0
    /// Indexes that do not contain previously saved records yet.
    private(set) var newIndexes: [NewIndex] = []

    /// An index on the values of a newly added field.
    struct NewIndex: Hashable, Sendable {
        var index: Int64
        var type: String
    }

    let environment: StoredEnvironment
    let configuration: ServiceConfiguration

    init(schema: Schema, environment: StoredEnvironment, configuration: ServiceConfiguration) {
        self.schema = schema
        self.environment = environment
        self.configuration = configuration
    }

    /// Returns a type; creates it just in time in development.
    mutating func type(_ name: String) throws -> RecordTypeSchema {
        if let type = schema.types[name] { return type }
        if name == WireRecord.shareType { return RecordTypeSchema(number: 0) }
        if let problem = NameRules.identifier(name, "recordType") {
            throw RecordFailure(.badRequest, problem)
        }
        guard environment.kind == .development else {
            throw RecordFailure(
                .badRequest,
                "Cannot create new type \(name) in production schema; deploy a schema that has "
                    + "it: RECORD TYPE \(name) (…)"
            )
        }
        guard configuration.growsSchema else {
            throw RecordFailure(.badRequest, "Did not find record type: \(name)")
        }
        guard newTypes.count < configuration.budget.newTypes else {
            throw tooMuchGrowth("\(configuration.budget.newTypes) new types")
        }
        newTypes.insert(name)
        schema.addType(name, indexesSystemFields: configuration.indexesSystemFields)
        isChanged = true
        return schema.types[name] ?? RecordTypeSchema(number: 0)
    }

    /// Returns a field to store, converted if the schema requires it; nil if it is cleared.
    mutating func checked(
        _ field: WireField,
        _ key: String,
        of type: String,
        _ name: String,
        isPublic: Bool
    ) throws -> WireField? {
        guard let value = field.value else { return nil }
        try checkNumbers(value, key, name)
        if type == WireRecord.shareType { return WireField(value) }
        let known = schema.types[type]?.fields[key]
        guard let known else {
            try addField(key, value.type, field.isEncrypted, to: type)
            return try checked(field, key, of: type, name, isPublic: isPublic)
        }
        try checkEncryption(field, known, key, name, isPublic: isPublic)
        var result = field
        result.statedType = nil
        result.value = try converted(value, field, to: known, key, type, name)
        return result
    }

    private mutating func addField(
        _ key: String,
        _ fieldType: FieldType,
        _ isEncrypted: Bool,
        to type: String
    ) throws {
        if let problem = NameRules.identifier(key, "field name") {
            throw RecordFailure(.badRequest, problem)
        }
        guard environment.kind == .development else {
            throw RecordFailure(
                .badRequest,
                "Cannot create or modify field '\(key)' in record '\(type)' in production schema; "
                    + "deploy a schema that has it: \(key) \(fieldType.schemaText)"
            )
        }
        guard configuration.growsSchema else {
            throw RecordFailure(.badRequest, "Field \(key) not found in \(type)")
        }
        guard newFields < configuration.budget.newFields else {
            throw tooMuchGrowth("\(configuration.budget.newFields) new fields")
        }
        newFields += 1
        isChanged = true
        let number = schema.takeNumber()
        schema.types[type]?.fields[key] = FieldSchema(
            fieldType,
            isEncrypted: isEncrypted,
            indexes: isEncrypted ? [] : FieldSchema.everyIndex(for: fieldType),
            number: number
        )
        // A field without an index, such as one of assets, has no entries that could be missing.
        if !fieldType.isList, let field = schema.types[type]?.fields[key],
            !field.indexes.isDisjoint(with: .values)
        {
            newIndexes.append(NewIndex(index: field.valueIndex, type: type))
        }
    }

    private func tooMuchGrowth(_ limit: String) -> RecordFailure {
        RecordFailure(
            .badRequest,
            "The request needs more than \(limit) in the schema; save in smaller requests, or import "
                + "a schema first",
            nativeCode: .limitExceeded
        )
    }

    private func checkEncryption(
        _ field: WireField,
        _ known: FieldSchema,
        _ key: String,
        _ name: String,
        isPublic: Bool
    ) throws {
        if field.isEncrypted, isPublic {
            throw RecordFailure(
                .badRequest,
                "encrypted fields are not supported in the public database: field '\(key)' of "
                    + "'\(name)'"
            )
        }
        if field.isEncrypted, !known.isEncrypted {
            throw RecordFailure(
                .badRequest,
                "Attempt to save encrypted data in non encrypted field type: field '\(key)' of "
                    + "'\(name)'"
            )
        }
        if !field.isEncrypted, known.isEncrypted {
            throw RecordFailure(
                .badRequest,
                "invalid attempt to set value type \(field.value?.type.tag ?? "BYTES") for field "
                    + "'\(key)' of '\(name)', defined to be: ENCRYPTED_\(known.type.tag)"
            )
        }
    }

    /// Returns the value converted to the field's own type.
    private mutating func converted(
        _ value: WireValue,
        _ field: WireField,
        to known: FieldSchema,
        _ key: String,
        _ type: String,
        _ name: String
    ) throws -> WireValue {
        if value.type == known.type { return value }
        if case .list(let values, let scalar) = value, known.type.isList {
            if values.isEmpty { return .list([], of: known.type.scalar) }
            if known.type.scalar == nil, let scalar {
                try adopt(scalar, for: key, in: type)
                return value
            }
        }
        let isUntagged = field.statedType == nil
        if isUntagged {
            let read = configuration.untaggedValues.read(value, as: known.type)
            if read.type == known.type { return read }
        }
        throw RecordFailure(
            .badRequest,
            "Invalid value, expected type \(known.type.tag): field '\(key)' of '\(name)' has a "
                + "value of type \(value.type.tag)"
                + (isUntagged && UntaggedValues.wouldRead(value, as: known.type)
                    ? UntaggedValues.remedy : "")
        )
    }

    /// Sets the element type of a list whose element type is undetermined.
    private mutating func adopt(
        _ scalar: FieldType.Scalar,
        for key: String,
        in type: String
    ) throws {
        let full = FieldType(listOf: scalar)
        guard environment.kind == .development else {
            throw RecordFailure(
                .badRequest,
                "Cannot create or modify field '\(key)' in record '\(type)' in production schema"
            )
        }
        isChanged = true
        schema.types[type]?.fields[key]?.type = full
        schema.types[type]?.fields[key]?.indexes = FieldSchema.everyIndex(for: full)
    }

    private func checkNumbers(_ value: WireValue, _ key: String, _ name: String) throws {
        switch value {
        case .double(let number) where !number.isFinite:
            throw RecordFailure(.badRequest, "Field '\(key)' of '\(name)' is not a finite number")
        case .location(let location)
        where !(abs(location.latitude) <= 90 && abs(location.longitude) <= 180):
            throw RecordFailure(
                .badRequest,
                "Field '\(key)' of '\(name)' is no place on Earth: latitude \(location.latitude), "
                    + "longitude \(location.longitude)"
            )
        case .list(let values, _):
            for value in values { try checkNumbers(value, key, name) }
        default: break
        }
    }

    /// Writes the extended schema, and adds the older records to its new indexes without a value,
    /// so that sorting by the new field returns them too.
    func save(version: Int64, _ writer: any StorageWriter) throws {
        for new in newIndexes {
            guard let type = schema.types[new.type] else { continue }
            try writer.addMissingEntries(
                index: new.index,
                key: IndexKey.missing,
                for: type.nameIndex,
                environment.id
            )
        }
        try writer.setSchema(environment.id, version: version, schema.encoded())
    }
}

extension FieldType {
    /// The type as written in the schema language.
    var schemaText: String {
        let name = scalar == .asset ? "ASSET" : scalar?.rawValue ?? "STRING"
        return isList ? "LIST<\(name)>" : name
    }

    /// Returns whether every value of this type is one of another type, too: a list that never had an
    /// element may become a list of anything.
    func fits(_ other: FieldType) -> Bool {
        self == other || isList && scalar == nil && other.isList
    }
}
