import CloudKit
import CloudKitCodable

/// Connects this API to the coders of graphs.
enum NestedGraph {
    /// Returns the records of a value, its own last.
    static func records(
        of value: any CKEncodable,
        zoneID: CKRecordZone.ID,
        action: CKRecord.ReferenceAction,
        storesLocations: Bool,
        storesAssets: Bool
    ) throws -> [CKRecord] {
        try CloudKitGraphEncoder(zoneID: zoneID).records { folder in
            NestedDialect(
                referenceAction: action,
                storesLocations: storesLocations,
                storesAssets: storesAssets,
                asset: folder
            )
        } root: { dialect in
            dialect.node(for: value)
        }
    }
}
