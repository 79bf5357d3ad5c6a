public import CloudKit

/// A value made of models, with the records that hold it.
///
/// The records are the versions that are known of the server's copies. Edit ``root`` and save the
/// graph: only records whose values changed are sent, each onto its known version.
///
/// ```swift
/// var graph = try await database.graph(Atlas.self, for: atlasID)
/// graph.root.countries[0].name = "Österreich"
/// try await database.save(&graph)
/// ```
public struct CloudKitGraph<Root: CloudKitModel> {
    /// The value; edit it and save the graph.
    public var root: Root

    /// The identity of the root's record.
    public let rootID: CKRecord.ID

    /// The records of the graph as they are known, targets of references before their sources.
    ///
    /// The files of assets that a save made of values live as long as the graph does.
    public private(set) var records: [CKRecord]

    /// Keeps the files of assets that were encoded from values for as long as the records live.
    private var assets: [AssetFolder] = []

    /// Makes a graph of a value and the records that are known of it.
    public init(root: Root, rootID: CKRecord.ID, records: [CKRecord]) {
        self.root = root
        self.rootID = rootID
        self.records = records
    }

    /// Takes the records that were saved; the others stay as they were known.
    ///
    /// - Parameters:
    ///   - saved: The records as the server has them now.
    ///   - encoded: What the value was encoded into.
    ///   - folder: Where the files of its assets are.
    ///   - isComplete: Whether records that were not reached are deleted.
    mutating func update(
        with saved: [CKRecord],
        of encoded: EncodedGraph,
        assets folder: AssetFolder,
        isComplete: Bool
    ) {
        var versions = Dictionary(records.map { ($0.recordID, $0) }) { _, later in later }
        for record in saved { versions[record.recordID] = record }
        let others = isComplete ? [] : encoded.orphans.reversed()
        records = (encoded.records.map(\.recordID) + others).compactMap { versions[$0] }
        assets.append(folder)
    }
}

extension CloudKitGraph {
    /// Takes from another graph the records of the models that were moved here.
    ///
    /// Take a model out of the other value, put it into this one, and call this before saving: the
    /// model goes onto the record that the other graph knows, which the other graph then forgets.
    /// Without it the save ends with `CKError.serverRecordChanged`, because the server has a record
    /// that is new to this graph.
    ///
    /// ```swift
    /// let photo = old.root.photos.removeFirst()
    /// new.root.photos.append(photo)
    /// try new.takeRecords(from: &old)
    /// try await database.save(&new)
    /// try await database.save(&old)
    /// ```
    ///
    /// - Throws: ``CloudKitGraphError`` when one of the values cannot be encoded.
    public mutating func takeRecords<Other>(from other: inout CloudKitGraph<Other>) throws {
        let folder = AssetFolder(isRemovedWithObject: true)
        let here = try CloudKitGraphEncoder(zoneID: rootID.zoneID)
            .encode(root, onto: [], assets: folder)
        let there = try CloudKitGraphEncoder(zoneID: other.rootID.zoneID)
            .encode(other.root, onto: other.records, assets: folder)
        let reached = Set(here.records.map(\.recordID))
        // What both values hold is known to both.
        let moved = reached.intersection(there.orphans)
        for record in other.records where reached.contains(record.recordID) { take(record) }
        other.records.removeAll { moved.contains($0.recordID) }
    }

    /// Takes a record, unless a newer version of it is known.
    private mutating func take(_ record: CKRecord) {
        guard let index = records.firstIndex(where: { $0.recordID == record.recordID }) else {
            return records.append(record)
        }
        let known = records[index].modificationDate ?? .distantPast
        if known < record.modificationDate ?? .distantPast { records[index] = record }
    }
}

extension CloudKitGraph: Sendable where Root: Sendable {}
