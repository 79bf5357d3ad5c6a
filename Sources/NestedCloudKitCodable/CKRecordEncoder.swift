public import CloudKit
import CloudKitCodable

/// Encodes a value, and the values in it at any depth, into records.
///
/// ```swift
/// let records = try CKRecordEncoder(zoneID: zoneID).encode(school)
/// let school = records.last
/// ```
public class CKRecordEncoder {
    /// The zone of the records; nil means the default zone.
    public var zoneID: CKRecordZone.ID?

    /// The action on a record when a record that it refers to is deleted.
    ///
    /// - Important: The default, `.deleteSelf`, deletes an owner with any of the values in it.
    ///   Existing records of this API have it; `.none` is safer.
    public var referenceAction = CKRecord.ReferenceAction.deleteSelf

    /// A Boolean value that indicates whether texts such as "52.5;13.4" become locations; existing
    /// schemas have text.
    public var storesLocations = false

    /// A Boolean value that indicates whether data becomes files; existing schemas have bytes.
    public var storesAssets = false

    /// Creates an encoder for a zone; the default zone if none is given.
    public init(zoneID: CKRecordZone.ID? = nil) {
        self.zoneID = zoneID
    }

    /// Encodes a value into records: those of the values in it first, its own last.
    ///
    /// - Throws: ``CKCodableError``.
    public func encode(_ value: any CKEncodable) throws -> [CKRecord] {
        do {
            return try NestedGraph.records(
                of: value,
                zoneID: zoneID ?? .default,
                action: referenceAction,
                storesLocations: storesLocations,
                storesAssets: storesAssets
            )
        } catch {
            throw CKCodableError(cause: error)
        }
    }
}
