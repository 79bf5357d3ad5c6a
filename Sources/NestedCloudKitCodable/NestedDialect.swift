import CloudKit
import CloudKitCodable

/// This API's rules for graphs: `CKRecordRepresentable` values are records.
struct NestedDialect: GraphDialect {
    let referenceAction: CKRecord.ReferenceAction
    let storesLocations: Bool
    let storesAssets: Bool
    let asset: (Data) throws -> CKAsset

    func isNode(_ type: Any.Type) -> Bool {
        type is any (CKRecordRepresentable & Encodable).Type
    }

    func node(for value: any Encodable) -> GraphNode? {
        guard let value = value as? any CKEncodable else { return nil }
        return GraphNode(
            value: value,
            recordType: value.cloudKitRecordType,
            recordName: value.cloudKitIdentifier,
            ignoring: value.ignoredProperties()
        )
    }

    func form(of value: any Encodable) throws -> (any CKRecordValue)? {
        switch value {
        case let text as String where storesLocations: LocationText.location(text)
        case let texts as [String] where storesLocations && !texts.isEmpty:
            Self.locations(texts)
        case let data as Data where storesAssets: try asset(data)
        default: nil
        }
    }

    /// Returns a list of locations, if every text is one.
    private static func locations(_ texts: [String]) -> (any CKRecordValue)? {
        let locations = texts.compactMap(LocationText.location)
        return locations.count == texts.count ? NSArray(array: locations) : nil
    }
}
