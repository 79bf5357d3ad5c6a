public import CloudKit
import CloudKitFiles
import CloudKitStore
import Foundation

extension CoreDataFormat {
    /// Creates the record of a link of a many-to-many relationship.
    ///
    /// Core Data keeps no link twice: look for one before, and delete all records of a link to remove it.
    ///
    /// - Parameters:
    ///   - relationship: The relationship's name.
    ///   - entity: The entity that declares it, or one that inherits it.
    ///   - source: The record of the entity's object.
    ///   - target: The record of the related object, in the same zone.
    /// - Returns: The record.
    /// - Throws: ``CoreDataRecordError`` for a relationship that has no such records.
    public func linkRecord(
        _ relationship: String,
        of entity: String,
        from source: CKRecord.ID,
        to target: CKRecord.ID
    ) throws -> CKRecord {
        let place = "\(entity).\(relationship)"
        guard let found = model.entity(named: entity),
            let property = model.relationships(of: found).first(where: { $0.name == relationship }),
            let inverse = model.inverse(of: property), property.isToMany, inverse.isToMany,
            let owner = (model.ancestors(of: found) + [found])
                .last(where: { $0.relationship(named: relationship) != nil }),
            let inverseOwner = model.owner(ofInverseOf: property)
        else {
            throw CoreDataRecordError(
                .unknownProperty,
                place,
                "the model has no such many-to-many relationship; other relationships are fields of a record"
            )
        }
        let ends = [
            (owner.name, relationship, source.recordName),
            (inverseOwner, inverse.name, target.recordName),
        ].sorted { ($0.0.lowercased(), $0.1.lowercased()) < ($1.0.lowercased(), $1.1.lowercased()) }
        let record = CKRecord(
            recordType: MirroredSchema.linkType,
            recordID: CKRecord.ID(recordName: UUID().uuidString, zoneID: source.zoneID)
        )
        let unused = RecordFormat.End(field: "", kinds: [], relation: "")
        let fields = Self.link(unused, unused)
        record[fields.kinds] = ends.map(\.0).joined(separator: ":")
        record[fields.relations] = ends.map(\.1).joined(separator: ":")
        record[fields.names] = ends.map(\.2).joined(separator: ":")
        return record
    }

    /// Creates the record of a new object.
    ///
    /// - Parameters:
    ///   - entity: The object's entity.
    ///   - values: The values of attributes by name.
    ///   - links: The record names of the targets of to-one relationships by name.
    ///   - zoneID: The zone; nil for the app's own.
    /// - Returns: The record, whose name is a new UUID.
    /// - Throws: ``CoreDataRecordError`` for what the entity does not have; an error if the file of an asset
    ///   cannot be written.
    public func record(
        of entity: String,
        _ values: [String: CoreDataValue],
        links: [String: String] = [:],
        zoneID: CKRecordZone.ID? = nil
    ) throws -> CKRecord {
        let record = try newRecord(of: entity, UUID().uuidString, zoneID)
        try set(values.mapValues(Optional.some), links: links.mapValues(Optional.some), in: record)
        return record
    }

    /// Returns an empty record of an entity's object.
    func newRecord(
        of entity: String,
        _ name: String,
        _ zoneID: CKRecordZone.ID?
    ) throws -> CKRecord {
        guard let found = model.entity(named: entity), entities.contains(entity) else {
            throw CoreDataRecordError(.unknownEntity, entity, "the model has no such entity")
        }
        let zoneID = zoneID ?? CKRecordZone.ID(zoneName: Self.zoneName)
        let record = CKRecord(
            recordType: recordType(of: found),
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
        )
        record[Self.entityField] = entity
        return record
    }

    /// Changes properties of a record; others stay as they are.
    ///
    /// - Parameters:
    ///   - values: The new values of attributes by name; nil clears one, which is its default then.
    ///   - links: The record names of the new targets of to-one relationships by name; nil clears one.
    ///   - record: The record.
    /// - Throws: ``CoreDataRecordError`` for what the entity does not have; an error if the file of an asset
    ///   cannot be written.
    public func set(
        _ values: [String: CoreDataValue?],
        links: [String: String?] = [:],
        in record: CKRecord
    ) throws {
        guard let entity = try entity(of: record) else {
            throw CoreDataRecordError(
                .unknownEntity,
                Self.place(record),
                "it is no object of Core Data, whose record types begin with CD_"
            )
        }
        for (name, value) in values {
            let place = "\(entity.name).\(name)"
            guard let attribute = model.attributes(of: entity).first(where: { $0.name == name }),
                !MirroredField.fields(of: attribute, in: "").isEmpty
            else { throw Self.unknown(place) }
            guard value?.isOf(attribute.type) ?? true else {
                throw CoreDataRecordError(.wrongType, place, "is a \(attribute.type.name)")
            }
        }
        let relationships = toOneRelationships(of: entity).map(\.name)
        for name in links.keys where !relationships.contains(name) {
            throw Self.unknown("\(entity.name).\(name)")
        }
        try write(values, links, of: entity, to: record)
    }

    static func unknown(_ place: String) -> CoreDataRecordError {
        CoreDataRecordError(
            .unknownProperty,
            place,
            "records have no such attribute or to-one relationship; leave it out"
        )
    }

    /// Sets properties of an entity's record.
    ///
    /// - Parameters:
    ///   - values: The new values of attributes by name; nil clears one.
    ///   - links: The new targets of to-one relationships by name; nil clears one.
    ///   - entity: The record's entity.
    ///   - record: The record.
    /// - Throws: An error if the file of an asset cannot be written.
    func write(
        _ values: [String: CoreDataValue?],
        _ links: [String: String?],
        of entity: CoreDataModel.Entity,
        to record: CKRecord
    ) throws {
        for (name, target) in links {
            record[Self.prefix + name] = target
        }
        var sizes: [String: Int] = [:]
        var used = 0
        for attribute in model.attributes(of: entity) where attribute.companionField != nil {
            let isSet = values.keys.contains(attribute.name)
            if isSet, let value = values[attribute.name] ?? nil {
                sizes[attribute.name] = value.content?.count ?? 0
            } else if !isSet {
                let kept =
                    attribute.isEncryptedInCloudKit
                    ? record.encryptedValues.object(forKey: attribute.field)
                    : record.object(forKey: attribute.field)
                used += (kept as? String)?.utf8.count ?? (kept as? Data)?.count ?? 0
            }
        }
        let assets = InlineValues.inAssets(sizes, besides: used)
        for attribute in model.attributes(of: entity) {
            guard let value = values[attribute.name] else { continue }
            let object = assets.contains(attribute.name) ? nil : value?.object
            if attribute.isEncryptedInCloudKit {
                record.encryptedValues.setObject(object, forKey: attribute.field)
            } else {
                record.setObject(object, forKey: attribute.field)
            }
            guard let companion = attribute.companionField else { continue }
            if assets.contains(attribute.name), let content = value?.content {
                record[companion] = try Self.asset(of: content)
            } else if record.object(forKey: companion) != nil {
                record[companion] = nil as CKAsset?
            }
        }
    }

    private static func asset(of content: Data) throws -> CKAsset {
        let file = try PrivateFiles.shared.newPlace()
        try content.write(to: file)
        return CKAsset(fileURL: file)
    }
}

extension CoreDataValue {
    /// The value as the object of a field.
    var object: (any __CKRecordObjCValue)? {
        switch self {
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .decimal(let number): NSNumber(value: Double("\(number)") ?? 0)
        case .string(let text), .uri(let text): text as NSString
        case .boolean(let flag): NSNumber(value: flag ? 1 : 0)
        case .date(let date): date as NSDate
        case .bytes(let data): data as NSData
        case .uuid(let uuid): uuid.uuidString as NSString
        }
    }

    /// The bytes of text or bytes; nil for other values.
    fileprivate var content: Data? {
        switch self {
        case .string(let text), .uri(let text): Data(text.utf8)
        case .bytes(let data): data
        default: nil
        }
    }
}
