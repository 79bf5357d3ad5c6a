public import CloudKit
public import CloudKitCodable
import Foundation

extension CloudKitRecordEncoder {
    /// Encodes a value into a new record of an app with Core Data or SwiftData.
    ///
    /// The value's properties have the names of the model's attributes; to-one relationships are strings, the
    /// names of the targets' records. The record is in the app's zone unless ``zoneID`` is set. Its name is the
    /// value's own, if it has one, or a new UUID.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - entity: The object's entity.
    ///   - format: The format of the model.
    /// - Returns: The record.
    /// - Throws: ``CoreDataRecordError`` for what the entity does not have, or `EncodingError`.
    public func encode(
        _ value: some Encodable,
        as entity: String,
        format: CoreDataFormat
    ) throws -> CKRecord {
        let plain = try encode(value)
        let record = try format.newRecord(of: entity, plain.recordID.recordName, zoneID)
        guard let found = try format.entity(of: record) else { return record }
        let (values, links) = try format.properties(of: plain, found)
        try format.write(
            values.mapValues(Optional.some),
            links.mapValues(Optional.some),
            of: found,
            to: record
        )
        return record
    }

    /// Encodes a value into a known record of an app with Core Data or SwiftData and changes only the fields that
    /// differ.
    ///
    /// Properties that are nil are cleared; Core Data reads the attribute's default in their place. Fields that are
    /// not the value's stay.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - record: The record, with the files of its assets.
    ///   - format: The format of the model.
    /// - Throws: ``CoreDataRecordError`` for what the entity does not have, or `EncodingError`.
    public func encode(
        _ value: any Encodable,
        onto record: CKRecord,
        format: CoreDataFormat
    ) throws {
        guard let object = try format.object(record),
            let entity = format.model.entity(named: object.entity)
        else {
            throw CoreDataRecordError(
                .unknownEntity,
                CoreDataFormat.place(record),
                "it is no object of Core Data, whose record types begin with CD_"
            )
        }
        let plain = object.plainRecord()
        try encode(value, onto: plain)
        let (values, links) = try format.properties(of: plain, entity)
        var changedValues: [String: CoreDataValue?] = [:]
        for name in Set(values.keys).union(object.values.keys)
        where values[name] != object.values[name] {
            changedValues[name] = .some(values[name])
        }
        var changedLinks: [String: String?] = [:]
        for name in Set(links.keys).union(object.links.keys) where links[name] != object.links[name]
        {
            changedLinks[name] = .some(links[name])
        }
        try format.write(changedValues, changedLinks, of: entity, to: record)
    }
}

extension CoreDataFormat {
    /// Returns the properties of an entity that a record has under their own names.
    func properties(
        of plain: CKRecord,
        _ entity: CoreDataModel.Entity
    ) throws -> (values: [String: CoreDataValue], links: [String: String]) {
        var values: [String: CoreDataValue] = [:]
        var links: [String: String] = [:]
        let attributes = Dictionary(
            uniqueKeysWithValues: model.attributes(of: entity).map { ($0.name, $0) }
        )
        let relationships = Set(toOneRelationships(of: entity).map(\.name))
        for name in plain.allKeys() {
            guard let object = plain.object(forKey: name) else { continue }
            let place = "\(entity.name).\(name)"
            if relationships.contains(name) {
                let reference = object as? CKRecord.Reference
                guard let target = reference?.recordID.recordName ?? object as? String else {
                    throw CoreDataRecordError(
                        .wrongType,
                        place,
                        "a relationship is the name of the target's record, as a string"
                    )
                }
                links[name] = target
            } else if let attribute = attributes[name],
                !MirroredField.fields(of: attribute, in: "").isEmpty
            {
                guard let value = CoreDataValue(plain: object, as: attribute.type) else {
                    throw CoreDataRecordError(
                        .wrongType,
                        place,
                        "is a \(type(of: object)), which is no \(attribute.type.name)"
                    )
                }
                values[name] = value
            } else {
                throw Self.unknown(place)
            }
        }
        return (values, links)
    }
}

extension CoreDataValue {
    /// Creates a value from a field of the mapper, which has some values as text or as JSON.
    init?(plain object: Any, as type: CoreDataModel.AttributeType) {
        switch type {
        case .binary, .transformable, .composite: self.init(object, as: type)
        case .decimal:
            guard let text = Self.text(object), let value = CoreDataValue(text, as: .decimal)
            else { return nil }
            self = value
        case .uuid, .uri, .string:
            guard let text = Self.text(object) else { return nil }
            self.init(text, as: type)
        default: self.init(object, as: type)
        }
    }

    private static func text(_ object: Any) -> String? {
        switch object {
        case let text as String: text
        case let number as NSNumber: "\(number)"
        case let data as Data:
            // Bytes that are no JSON are no text either.
            (try? JSONDecoder().decode(String.self, from: data))
                ?? (try? JSONDecoder().decode(Decimal.self, from: data)).map { "\($0)" }
        default: nil
        }
    }
}
