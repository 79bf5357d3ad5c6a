import CloudKitWire

/// A caller's access to a zone.
enum ZoneAccess: Hashable, Sendable {
    /// The whole zone, as far as roles allow.
    case everything
    /// The parts that shares grant access to.
    case shares([Opening])

    /// The access that one share grants.
    struct Opening: Hashable, Sendable {
        /// The share's record.
        var share: String
        /// The top of the shared hierarchy; nil for the whole zone.
        var root: String?
        var canWrite: Bool
    }

    /// The maximum number of levels of a hierarchy that are climbed.
    static let depthLimit = 100

    /// Returns whether shares give the caller access to a record or its tombstone; `RecordSight`
    /// decides whether the caller sees it.
    func reaches(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        try opening(of: record, reader) != nil
    }

    /// Returns whether a share that contains a record allows the caller to write; `RecordPlacement`
    /// decides where records may be saved.
    func opensForWriting(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        try opening(of: record, reader)?.canWrite ?? false
    }

    /// `true` when the caller may write in the whole zone.
    var isOfWholeZone: Bool {
        guard case .shares(let openings) = self else { return true }
        return openings.contains { $0.root == nil && $0.canWrite }
    }

    /// Returns the names of a record and all records above it.
    func lineage(of record: StoredRecord, _ reader: any StorageReader) throws -> Set<String> {
        var lineage: Set<String> = [record.name]
        var next = record.parent
        // A circle of parents ends where it began.
        while let name = next, lineage.count < Self.depthLimit, lineage.insert(name).inserted {
            next = try reader.record(record.zone, name: name)?.parent
        }
        return lineage
    }

    /// Returns the share through which a record is seen, preferably one with write permission.
    private func opening(
        of record: StoredRecord,
        _ reader: any StorageReader
    ) throws -> Opening? {
        guard case .shares(let openings) = self else {
            return Opening(share: "", root: nil, canWrite: true)
        }
        if openings.isEmpty { return nil }
        let lineage = try lineage(of: record, reader)
        let fitting = openings.filter { opening in
            opening.share == record.name || opening.root.map(lineage.contains) ?? true
        }
        return fitting.first(where: \.canWrite) ?? fitting.first
    }
}
