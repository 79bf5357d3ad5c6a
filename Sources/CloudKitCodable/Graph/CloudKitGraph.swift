public import CloudKit

/// A value made of models, with the records that hold it.
///
/// The records are the last known versions of the server's copies. Edit ``root`` and save the graph:
/// only records whose values changed are sent, each based on its known version.
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

    /// The records of the graph in their last known versions, targets of references before their
    /// sources.
    ///
    /// The files of assets that a save created from values live as long as the graph.
    public private(set) var records: [CKRecord]

    /// Keeps the files of assets that were encoded from values for as long as the records live.
    private var assets: [AssetFolder] = []

    /// References in the records to owners in other graphs, left after records were moved between the
    /// graphs: the next save clears them.
    private(set) var former: Set<GraphRelease> = []

    /// The items that the last save sent without receiving a response.
    private(set) var unanswered = UnconfirmedSave()

    /// Creates a graph of a value and its known records.
    public init(root: Root, rootID: CKRecord.ID, records: [CKRecord]) {
        self.root = root
        self.rootID = rootID
        self.records = records
    }

    /// Takes over the saved records; the others stay in their known versions.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the save.
    ///   - encoded: The encoded value.
    ///   - folder: The folder with the files of its assets.
    ///   - deletesOrphans: Whether records that were not reached are deleted.
    mutating func update(
        with outcome: GraphSaver.Outcome,
        of encoded: EncodedGraph,
        assets folder: AssetFolder,
        deletesOrphans: Bool
    ) {
        let isComplete = outcome.error == nil
        var versions = Dictionary(records.map { ($0.recordID, $0) }) { _, later in later }
        for record in outcome.saved {
            versions[record.recordID] = record
            unanswered.records[record.recordID] = nil
        }
        if isComplete {
            former = []
            unanswered = UnconfirmedSave()
        }
        unanswered.formUnion(outcome.unanswered)
        let others = isComplete && deletesOrphans ? [] : encoded.orphans.reversed()
        records = (encoded.records.map(\.recordID) + others).compactMap { versions[$0] }
        assets.append(folder)
    }
}

extension CloudKitGraph {
    /// Applies the looked-up states of the items for which a save received no response.
    ///
    /// An item that the server has neither as it was sent nor as it was before stays unanswered: the
    /// next save sends it, and the server reports its version.
    mutating func settle(_ found: [CKRecord.ID: Result<CKRecord, any Error>]) {
        for (recordID, result) in found {
            switch result {
            case .success(let record):
                unanswered.deletions.remove(recordID)
                guard let sent = unanswered.records[recordID] else { continue }
                let isSaved = sent.hasSameContents(as: record)
                guard isSaved || record.recordChangeTag == sent.recordChangeTag else { continue }
                unanswered.records[recordID] = nil
                if isSaved { replace(record) }
            case .failure(let error as CKError) where error.code == .unknownItem:
                unanswered.records[recordID] = nil
                guard unanswered.deletions.remove(recordID) != nil else { continue }
                records.removeAll { $0.recordID == recordID }
            case .failure: continue
            }
        }
    }

    private mutating func replace(_ record: CKRecord) {
        if let index = records.firstIndex(where: { $0.recordID == record.recordID }) {
            records[index] = record
        } else {
            records.append(record)
        }
    }

    /// Takes the records of the models that were moved here from another graph.
    ///
    /// Remove a model from the other value, add it to this one, and call this before saving: the
    /// model is then saved onto the record that the other graph knows, and the other graph forgets
    /// the record. Without this call the save fails with `CKError.serverRecordChanged`, because the
    /// server already has a record that is new to this graph.
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
        // Edits within a moved model are found by comparison with the other graph's known records.
        let here = try CloudKitGraphEncoder(zoneID: rootID.zoneID)
            .encode(root, onto: newest(with: other.records), assets: folder)
        let there = try CloudKitGraphEncoder(zoneID: other.rootID.zoneID)
            .encode(other.root, onto: other.records, assets: folder)
        let reached = Set(here.records.map(\.recordID))
        // Records that both values hold are known to both.
        var moved = reached.intersection(there.orphans)
        moved.formUnion(
            Self.followers(of: moved, here.releases, among: other.records, there.orphans, reached)
        )
        // A record belongs to one graph, which then clears the record's references to owners in the
        // other.
        let owners = Set(other.records.map(\.recordID))
        let left = owners.subtracting(moved).subtracting(reached)
        other.former.formUnion(
            here.releases.filter { left.contains($0.recordID) && owners.contains($0.owner) }
        )
        former.formUnion(there.releases.filter { moved.contains($0.recordID) })
        former.formUnion(other.former.filter { moved.contains($0.recordID) })
        other.former = other.former.filter { !moved.contains($0.recordID) }
        for record in other.records
        where reached.contains(record.recordID) || moved.contains(record.recordID) {
            take(record)
        }
        other.records.removeAll { moved.contains($0.recordID) }
        unanswered.take(moved, from: &other.unanswered)
    }

    /// Returns the records that neither value holds and that belonged to a moved model: its former
    /// children, and the records that refer to these.
    private static func followers(
        of moved: Set<CKRecord.ID>,
        _ releases: Set<GraphRelease>,
        among records: [CKRecord],
        _ orphans: [CKRecord.ID],
        _ reached: Set<CKRecord.ID>
    ) -> Set<CKRecord.ID> {
        let candidates = Set(orphans).subtracting(reached)
        let released = releases.filter {
            candidates.contains($0.recordID) && moved.contains($0.owner)
        }
        var followers = Set(released.map(\.recordID))
        var count = -1
        while count != followers.count {
            count = followers.count
            for record in records where candidates.contains(record.recordID) {
                let targets = record.allKeys().flatMap { record.references($0) }.map(\.recordID)
                let owners = targets + [record.parent?.recordID].compactMap(\.self)
                if owners.contains(where: followers.contains) { followers.insert(record.recordID) }
            }
        }
        return followers
    }

    /// Returns the records of this graph and of another, in the newer version of each.
    private func newest(with others: [CKRecord]) -> [CKRecord] {
        var union = self
        for record in others { union.take(record) }
        return union.records
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
