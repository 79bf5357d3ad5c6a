import CoreLocation
import Foundation

/// A record in a keyed archive, with the system fields under the keys of Apple's archives.
///
/// The fields are stored under keys of our own: Apple's value store is private to its framework.
enum RecordArchive {
    typealias Contents = (system: SystemFields, plain: FieldStore, encrypted: FieldStore)

    private enum Key {
        static let recordType = "RecordType"
        static let recordID = "RecordID"
        static let changeTag = "ETag"
        static let creationDate = "RecordCtime"
        static let modificationDate = "RecordMtime"
        static let creator = "CreatorUserRecordID"
        static let modifier = "LastModifiedUserRecordID"
        static let parent = "ParentReference"
        static let share = "ShareReference"
        static let removesParent = "swift-cloudkit.removesParent"
        static let plain = "swift-cloudkit.fields"
        static let encrypted = "swift-cloudkit.encryptedFields"
        static let values = ".values"
        static let changed = ".changed"
    }

    static func encodeSystemFields(_ system: SystemFields, with coder: NSCoder) {
        coder.encode(system.recordType as NSString, forKey: Key.recordType)
        coder.encode(system.recordID, forKey: Key.recordID)
        coder.encode(system.changeTag as NSString?, forKey: Key.changeTag)
        coder.encode(system.creationDate as NSDate?, forKey: Key.creationDate)
        coder.encode(system.modificationDate as NSDate?, forKey: Key.modificationDate)
        coder.encode(system.creator, forKey: Key.creator)
        coder.encode(system.modifier, forKey: Key.modifier)
        coder.encode(system.parent, forKey: Key.parent)
        coder.encode(system.share, forKey: Key.share)
    }

    static func encode(_ record: CKRecord, with coder: NSCoder) {
        encodeSystemFields(record.system, with: coder)
        coder.encode(record.system.removesParent, forKey: Key.removesParent)
        encode(record.plain, forKey: Key.plain, with: coder)
        encode(record.encrypted, forKey: Key.encrypted, with: coder)
    }

    static func decode(_ coder: NSCoder) -> Contents? {
        guard let recordType = coder.string(forKey: Key.recordType), !recordType.isEmpty,
            let recordID = coder.object(CKRecord.ID.self, forKey: Key.recordID)
        else { return nil }
        var system = SystemFields(
            recordType: recordType,
            recordID: recordID,
            changeTag: coder.string(forKey: Key.changeTag),
            creationDate: coder.date(forKey: Key.creationDate),
            creator: coder.object(CKRecord.ID.self, forKey: Key.creator),
            modificationDate: coder.date(forKey: Key.modificationDate),
            modifier: coder.object(CKRecord.ID.self, forKey: Key.modifier),
            parent: coder.object(CKRecord.Reference.self, forKey: Key.parent),
            share: coder.object(CKRecord.Reference.self, forKey: Key.share)
        )
        system.removesParent = system.parent == nil && coder.truth(forKey: Key.removesParent)
        guard let plain = fields(forKey: Key.plain, coder),
            let encrypted = fields(forKey: Key.encrypted, coder)
        else { return nil }
        return (system, plain, encrypted)
    }

    // MARK: Fields

    private static func encode(_ store: FieldStore, forKey key: String, with coder: NSCoder) {
        // Not a dictionary, because Foundation reads out of bounds in a damaged one.
        let fields = store.allKeys.compactMap { field in
            store[field].flatMap(archivable).map { (field, $0) }
        }
        coder.encode(fields.map(\.0) as NSArray, forKey: key)
        coder.encode(fields.map(\.1) as NSArray, forKey: key + Key.values)
        coder.encode(store.changedKeys as NSArray, forKey: key + Key.changed)
    }

    /// Returns a value to archive; an asset is archived as its file's URL.
    private static func archivable(_ value: FieldValue) -> NSObject? {
        switch value {
        case .string(let string): string as NSString
        case .int64(let integer): NSNumber(value: integer)
        case .unsigned(let integer): NSNumber(value: integer)
        case .double(let double): NSNumber(value: double)
        case .date(let date): date as NSDate
        case .bytes(let data): data as NSData
        case .reference(let reference): reference
        case .asset(let asset): asset.fileURL as NSURL?
        case .location(let location): location
        case .list(let values): values.compactMap(archivable) as NSArray
        }
    }

    /// Returns the fields under a key: none if an archive of system fields has no such key, nil if
    /// its value cannot be read.
    private static func fields(forKey key: String, _ coder: NSCoder) -> FieldStore? {
        guard coder.containsValue(forKey: key) else {
            return applesFields(
                forKey: key == Key.plain ? "ValueStore" : "EncryptedValueStore",
                coder
            )
        }
        guard let names = coder.strings(forKey: key),
            let objects = coder.anything(forKey: key + Key.values) as? [Any],
            names.count == objects.count
        else { return nil }
        var values: [CKRecord.FieldKey: FieldValue] = [:]
        for (field, object) in zip(names, objects) {
            guard let value = unarchived(object) else { return nil }
            values[field] = value
        }
        var store = FieldStore(serverValues: values)
        store.markChanged(coder.strings(forKey: key + Key.changed) ?? [])
        return store
    }

    /// Returns the fields in an archive from an Apple platform.
    private static func applesFields(forKey key: String, _ coder: NSCoder) -> FieldStore? {
        guard coder.containsValue(forKey: key) else { return FieldStore() }
        return coder.object(ArchivedValues.self, forKey: key)?.store
    }

    private static func unarchived(_ object: Any) -> FieldValue? {
        switch object {
        case let url as URL: return .asset(CKAsset(fileURL: url))
        case let list as [Any]:
            let values = list.compactMap(unarchived)
            return values.count == list.count ? .list(values) : nil
        default: return FieldValue(exactly: object)
        }
    }
}
