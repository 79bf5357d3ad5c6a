#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What an engine keeps besides the records and could be made of them again, for a check of all of it.
///
/// An engine's reader has this beside `StorageReader`.
package protocol DerivedRows {
    /// Shows each index entry of a zone.
    func forEachEntry(
        in zone: RowID<StoredZone>,
        _ body: (IndexEntry) throws -> Void
    ) throws
    /// Shows each reference of a zone.
    func forEachReference(
        in zone: RowID<StoredZone>,
        _ body: (StoredReference) throws -> Void
    ) throws
    /// Shows each asset that a record of a zone is noted to hold.
    func forEachAsset(
        in zone: RowID<StoredZone>,
        _ body: (_ checksum: Data, _ record: RowID<StoredRecord>) throws -> Void
    ) throws
    /// The records that are noted to hold assets and are not there.
    func ownersOfLostAssets() throws -> [RowID<StoredRecord>]
    /// The checksums of all assets that records, or those in snapshots, hold; each once, in order.
    func heldAssets() throws -> [Data]
    /// What the engine's own look at its file finds; nothing where the file is whole.
    func fileProblems() throws -> [String]
}
