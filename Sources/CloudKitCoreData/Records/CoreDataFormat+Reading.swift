public import CloudKit
import Foundation

extension CoreDataFormat {
    /// Returns the object of a record; nil for a record of another kind, such as a link.
    ///
    /// - Parameter record: The record, with the files of its assets.
    /// - Returns: The object.
    /// - Throws: ``CoreDataRecordError`` for an entity that the model does not have, or a value that its attribute
    ///   cannot have.
    public func object(_ record: CKRecord) throws -> CoreDataObject? {
        guard let entity = try entity(of: record) else { return nil }
        var values: [String: CoreDataValue] = [:]
        for attribute in model.attributes(of: entity) {
            let value = try value(of: attribute, in: record)
            values[attribute.name] = value ?? Self.defaultValue(of: attribute)
        }
        var links: [String: String] = [:]
        for relationship in toOneRelationships(of: entity) {
            let name = record.object(forKey: Self.prefix + relationship.name) as? String
            if let name, !name.isEmpty { links[relationship.name] = name }
        }
        return CoreDataObject(
            recordID: record.recordID,
            entity: entity.name,
            values: values,
            links: links
        )
    }

    /// Returns the entity of a record's object; nil for a record of another kind.
    func entity(of record: CKRecord) throws -> CoreDataModel.Entity? {
        guard record.recordType.hasPrefix(Self.prefix) else { return nil }
        let root = String(record.recordType.dropFirst(Self.prefix.count))
        let name = record.object(forKey: Self.entityField) as? String ?? ""
        let entity = model.entity(named: name.isEmpty ? root : name)
        guard let entity, entities.contains(entity.name), model.root(of: entity).name == root else {
            throw CoreDataRecordError(
                .unknownEntity,
                Self.place(record),
                "its entity '\(name.isEmpty ? root : name)' is not in the model; use the version of the model "
                    + "that has it"
            )
        }
        return entity
    }

    /// Returns the to-one relationships that an entity's records have.
    func toOneRelationships(
        of entity: CoreDataModel.Entity
    ) -> [CoreDataModel.Relationship] {
        model.relationships(of: entity).filter { !$0.isToMany && !$0.isTransient }
    }

    /// Returns the value that a missing field stands for.
    static func defaultValue(of attribute: CoreDataModel.Attribute) -> CoreDataValue? {
        guard attribute.isMirrored, let value = attribute.defaultValue, value.isOf(attribute.type)
        else { return nil }
        return value
    }

    static func place(_ record: CKRecord) -> String {
        "\(record.recordType) \(record.recordID.recordName)"
    }

    // MARK: Values

    /// Returns the value of an attribute in a record; nil when the record has none.
    func value(
        of attribute: CoreDataModel.Attribute,
        in record: CKRecord
    ) throws -> CoreDataValue? {
        guard !MirroredField.fields(of: attribute, in: "").isEmpty else { return nil }
        var object: Any? =
            attribute.isEncryptedInCloudKit
            ? record.encryptedValues.object(forKey: attribute.field)
            : record.object(forKey: attribute.field)
        if let companion = attribute.companionField, Self.isEmpty(object),
            let asset = record.object(forKey: companion) as? CKAsset
        {
            object = try Self.content(of: asset, for: attribute, record)
        }
        guard let object else { return nil }
        guard let value = CoreDataValue(object, as: attribute.type) else {
            throw CoreDataRecordError(
                .wrongType,
                "\(Self.place(record)).\(attribute.field)",
                "holds a \(type(of: object)), which is no \(attribute.type.name)"
            )
        }
        return value
    }

    private static func isEmpty(_ object: Any?) -> Bool {
        switch object {
        case nil: true
        case let text as String: text.isEmpty
        case let data as Data: data.isEmpty
        default: false
        }
    }

    private static func content(
        of asset: CKAsset,
        for attribute: CoreDataModel.Attribute,
        _ record: CKRecord
    ) throws -> Any {
        let place = "\(place(record)).\(attribute.field)"
        // A file that cannot be read is the error below.
        guard let data = asset.fileURL.flatMap({ try? Data(contentsOf: $0) }) else {
            throw CoreDataRecordError(
                .unreadableAsset,
                place,
                "its asset has no file; fetch the record with its assets"
            )
        }
        guard attribute.type == .string || attribute.type == .uri else { return data }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CoreDataRecordError(.unreadableAsset, place, "its asset is no text in UTF-8")
        }
        return text
    }
}

extension CoreDataValue {
    /// Creates the value of a field; nil for an object that is no value of the type.
    init?(_ object: Any, as type: CoreDataModel.AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let number = object as? NSNumber else { return nil }
            self = .integer(number.int64Value)
        case .boolean:
            guard let number = object as? NSNumber else { return nil }
            self = .boolean(number.int64Value != 0)
        case .double, .float:
            guard let number = object as? NSNumber else { return nil }
            self = .double(number.doubleValue)
        case .decimal:
            guard let number = object as? NSNumber,
                let decimal = Decimal(
                    string: "\(number.doubleValue)",
                    locale: Locale(identifier: "en_US_POSIX")
                )
            else { return nil }
            self = .decimal(decimal)
        case .date:
            guard let date = object as? Date else { return nil }
            self = .date(date)
        case .string:
            guard let text = object as? String else { return nil }
            self = .string(text)
        case .uri:
            guard let text = object as? String else { return nil }
            self = .uri(text)
        case .uuid:
            guard let uuid = (object as? String).flatMap(UUID.init(uuidString:)) else { return nil }
            self = .uuid(uuid)
        case .binary, .transformable, .composite:
            guard let data = object as? Data else { return nil }
            self = .bytes(data)
        case .undefined, .objectID, .other: return nil
        }
    }
}
