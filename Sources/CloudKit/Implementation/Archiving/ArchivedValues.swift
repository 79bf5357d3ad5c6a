import CoreLocation
import Foundation

/// The fields of a record in an archive from an Apple platform.
final class ArchivedValues: NSObject, NSSecureCoding {
    /// The values by field.
    let values: [String: Any]
    /// The fields that were set or cleared.
    let changedKeys: [String]

    static var supportsSecureCoding: Bool { true }

    init?(coder: NSCoder) {
        let coder = coder.checked
        guard let values = coder.anything(forKey: "RecordValues") as? [String: Any] else {
            return nil
        }
        self.values = values
        changedKeys = Self.changedKeys(coder)
    }

    private static func changedKeys(_ coder: NSCoder) -> [String] {
        switch coder.anything(forKey: "ChangedKeys") {
        case let array as [String]: return array
        case let set as Set<String>: return set.sorted()
        default: return []
        }
    }

    /// Encodes nothing, because the module stores fields under keys of its own.
    func encode(with coder: NSCoder) {}

    /// The fields in a record's form; nil if a value is of a type that no record holds.
    var store: FieldStore? {
        var fields: [CKRecord.FieldKey: FieldValue] = [:]
        for (key, object) in values {
            guard let value = Self.value(object) else { return nil }
            fields[key] = value
        }
        var store = FieldStore(serverValues: fields)
        store.markChanged(changedKeys)
        return store
    }

    private static func value(_ object: Any) -> FieldValue? {
        switch object {
        case let asset as ArchivedAsset: return .asset(asset.asset)
        case let list as [Any]:
            let values = list.compactMap(value)
            return values.count == list.count ? .list(values) : nil
        default: return FieldValue(exactly: object)
        }
    }
}

/// An asset in an archive from an Apple platform: its file's URL.
final class ArchivedAsset: NSObject, NSSecureCoding {
    let asset: CKAsset

    static var supportsSecureCoding: Bool { true }

    init?(coder: NSCoder) {
        let coder = coder.checked
        guard let url = coder.object(NSURL.self, forKey: "AssetFileURL") else { return nil }
        asset = CKAsset(fileURL: url as URL)
    }

    /// Encodes nothing, because the module stores fields under keys of its own.
    func encode(with coder: NSCoder) {}
}
