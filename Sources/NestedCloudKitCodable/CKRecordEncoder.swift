public import CloudKit
import CloudKitCodable

/// Makes records of a value and of the values in it, at any depth.
///
/// ```swift
/// let records = try CKRecordEncoder(zoneID: zoneID).encode(school)
/// let school = records.last
/// ```
public class CKRecordEncoder {
    /// The zone of the records; nil for the default zone.
    public var zoneID: CKRecordZone.ID?

    /// What happens to a record when one that it refers to is deleted.
    ///
    /// - Important: The default, `.deleteSelf`, deletes an owner with any of the values in it. It is
    ///   what records of this API have; `.none` is safer.
    public var referenceAction = CKRecord.ReferenceAction.deleteSelf

    /// Whether texts such as "52.5;13.4" become locations; schemas that exist have text.
    public var storesLocations = false

    /// Whether data becomes files; schemas that exist have bytes.
    public var storesAssets = false

    /// Makes an encoder for a zone, the default zone unless given.
    public init(zoneID: CKRecordZone.ID? = nil) {
        self.zoneID = zoneID
    }

    /// Makes the records of a value: those of the values in it first, its own last.
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
