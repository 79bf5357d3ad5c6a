import CloudKit
import Foundation

// Only the type of its elements decides whether a list is stored as a list or as JSON: empty and full
// lists have the same type of field.
extension RecordEncoding {
    /// Stores an array.
    func storeList(_ value: some Encodable, _ field: RecordField) throws {
        guard let list = value as? any EncodableList else { return }
        guard ListElement(list.elementType, forms) != nil,
            let objects = try objects(list.elements, list.elementType, field)
        else { return try storeJSON(of: value, field) }
        if keepsUnknown(objects, list.elementType, field) {
            return try check(field.name, field.key)
        }
        try storeObject(NSArray(array: objects), field)
    }

    /// Returns whether the record holds a list with raw values that this version of the app does not
    /// know, and the list is the one that was decoded from it.
    private func keepsUnknown(
        _ objects: [Any],
        _ type: Any.Type,
        _ field: RecordField
    ) -> Bool {
        func read<Case: RawRepresentable & CloudKitEnum>(_ old: [Any], as type: Case.Type) -> Bool
        where Case.RawValue: Equatable {
            let values = old.map { FieldScalar.value($0, as: Case.RawValue.self) }
            return zip(values, objects).allSatisfy { value, new in
                guard let value, let new = new as? Case.RawValue else { return false }
                return (Case(rawValue: value) ?? .cloudKitFallbackCase)?.rawValue == new
            }
        }
        guard baseline == .values, let old = store(field).object(forKey: field.name) as? [Any],
            old.count == objects.count
        else { return false }
        if let type = type as? any CloudKitStringEnum.Type { return read(old, as: type) }
        if let type = type as? any CloudKitIntEnum.Type { return read(old, as: type) }
        return false
    }

    /// Stores a set, in a stable order.
    func storeSet(_ value: some Encodable, _ field: RecordField) throws {
        guard let set = value as? any EncodableSet else { return }
        let sorted = try set.elements
            .map { (bytes: try bytes(of: $0, field), element: $0) }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        if forms == .native, ListElement(set.elementType, forms) != nil,
            let objects = try objects(sorted.map(\.element), set.elementType, field)
        {
            try storeObject(NSArray(array: objects), field)
        } else {
            try checkModels(in: value, field)
            let inner = Data(sorted.map(\.bytes).joined(separator: Data(",".utf8)))
            try storeBytes(Data("[".utf8) + inner + Data("]".utf8), field)
        }
    }

    /// Returns the elements as a record's list holds them; nil when one of them is a structure.
    private func objects(
        _ elements: [any Encodable],
        _ type: Any.Type,
        _ field: RecordField
    ) throws -> [Any]? {
        var objects: [Any] = []
        objects.reserveCapacity(elements.count)
        for element in elements {
            guard let object = try object(element, field) else { return nil }
            objects.append(object)
        }
        if type == URL.self, Set(objects.map { $0 is CKAsset }).count > 1 {
            throw error(elements, field.key, "a list holds addresses or files, not both")
        }
        return objects
    }

    /// Returns one element as a list holds it; nil when it is a structure.
    private func object(_ element: any Encodable, _ field: RecordField) throws -> Any? {
        switch element {
        case let string as String: return string
        case let date as Date: return try finite(date, field.key)
        case let data as Data: return data
        case let bool as Bool: return bool ? Int64(1) : Int64(0)
        case let integer as any FixedWidthInteger: return try signed(integer, field.key)
        case let double as Double: return try finite(double, field.key)
        case let float as Float: return try finite(Double(float), field.key)
        case let url as URL:
            return url.isFileURL ? try asset(of: url, field) : url.absoluteString
        case let identifier as UUID: return identifier.uuidString
        case let decimal as Decimal: return try finite(decimal, field.key).text
        case let native as any NativeField: return native.object
        case let reference as any ReferenceField: return try target(of: reference, field)
        case let asset as any CloudKitAssetValue: return try file(of: asset, field)
        default: return try scalar(element, field)
        }
    }

    /// Returns the single value as which an element encodes itself, if it is one.
    private func scalar(_ element: any Encodable, _ field: RecordField) throws -> Any? {
        var object: Any?
        let probe = FieldProbe(path: codingPath + [field.key], userInfo: userInfo) { scalar in
            if let scalar { object = try self.object(scalar, field) }
        }
        try element.encode(to: probe)
        guard probe.isStructure else { return object }
        // The type makes it a list of raw values, empty or not.
        guard let raw = element as? any RawRepresentable, let value = raw.rawValue as? any Encodable
        else { return nil }
        return try self.object(value, field)
    }
}
