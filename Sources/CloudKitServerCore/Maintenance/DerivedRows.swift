#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The data that an engine derives from the records, for a check of all of it.
///
/// An engine's reader conforms to this in addition to `StorageReader`.
package protocol DerivedRows {
    /// Calls a closure for each index entry of a zone.
    func forEachEntry(
        in zone: RowID<StoredZone>,
        _ body: (IndexEntry) throws -> Void
    ) throws
    /// Calls a closure for each reference of a zone.
    func forEachReference(
        in zone: RowID<StoredZone>,
        _ body: (StoredReference) throws -> Void
    ) throws
    /// Calls a closure for each asset that a record of a zone holds, according to the derived data.
    func forEachAsset(
        in zone: RowID<StoredZone>,
        _ body: (_ checksum: Data, _ record: RowID<StoredRecord>) throws -> Void
    ) throws
    /// Returns the IDs of nonexistent records that the derived data lists as holders of assets.
    func ownersOfLostAssets() throws -> [RowID<StoredRecord>]
    /// Removes those assets, inside a write.
    func removeLostAssets() throws
    /// Returns the checksums of all assets that records, or those in snapshots, hold; each once, in
    /// order.
    func heldAssets() throws -> [Data]
    /// Returns the records that hold an asset according to the derived data, in order.
    func holders(of checksum: Data) throws -> [StoredRecord]
    /// Returns the problems that the engine's own check of its database finds; empty if there are none.
    func fileProblems() throws -> [FileProblem]
    /// Returns the rows outside of records that contradict each other; empty if there are none.
    func rowProblems() throws -> [FileProblem]
    /// Corrects the rows of those problems that are derived, inside a write.
    func mendRows() throws
    /// Returns the environments of a known kind, by container and kind.
    func readableEnvironments() throws -> [StoredEnvironment]
    /// Calls a closure for each document.
    func forEachDocument(
        _ body: (_ collection: String, _ document: StoredDocument) throws -> Void
    ) throws
}

/// A storage that can repair what its engine keeps beside the rows themselves.
package protocol RepairableStorage: Storage {
    /// Rebuilds damaged indexes, and derived tables, whose lost rows a check of the zones then adds.
    ///
    /// - Returns: `false` when something is still damaged then; nothing was changed.
    /// - Throws: `StorageError`.
    func rebuildDamagedTables() async throws -> Bool
    /// Lets this process write, and keeps for all others that nothing may be written until a repair
    /// has ended: a rebuilt table may lack rows until its zones have been checked.
    ///
    /// - Throws: `StorageError` when that cannot be kept; nothing may be repaired then.
    func beginRepair() throws
    /// Keeps what a complete check has found, also for other processes: damage that is left, or nil.
    func noteDamage(_ damage: String?)
}

/// A problem that an engine's own check of its database finds.
package struct FileProblem: Hashable, Sendable {
    /// A description in the engine's words.
    package var text: String
    /// `true` when the problem concerns an index, or a table of data that derives from the records.
    package var isDerived: Bool

    /// Creates a problem.
    package init(_ text: String, isDerived: Bool) {
        self.text = text
        self.isDerived = isDerived
    }
}

/// An order-independent sum of rows, which compares actual with expected rows without keeping either.
struct RowSum: Hashable {
    private var count = 0
    private var sum: UInt64 = 0

    /// Adds a row.
    mutating func add(_ row: some Hashable) {
        var hasher = Hasher()
        hasher.combine(row)
        count += 1
        sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Creates the sum of no rows.
    init() {}

    /// Creates the sum of rows, in which duplicates count once.
    init(_ rows: [some Hashable]) {
        for row in Set(rows) { add(row) }
    }
}
