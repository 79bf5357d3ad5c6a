import CloudKitWire

/// What a caller may see and change of a zone.
enum ZoneAccess: Hashable, Sendable {
    /// All of it, in so far as roles allow.
    case everything
    /// What shares open.
    case shares([Opening])

    /// What one share opens.
    struct Opening: Hashable, Sendable {
        /// The share's record.
        var share: String
        /// The top of the shared hierarchy; nil for the whole zone.
        var root: String?
        var canWrite: Bool
    }

    /// Levels of a hierarchy that are climbed at most.
    static let depthLimit = 100

    /// Whether shares let the caller come to a record or its tombstone; `RecordSight` says whether it
    /// is shown.
    func reaches(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        try opening(of: record, reader) != nil
    }

    /// Whether a share through which the caller comes to a record lets them write; where records may
    /// be put is said by `RecordPlacement`.
    func opensForWriting(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        try opening(of: record, reader)?.canWrite ?? false
    }

    /// Whether the caller may write in all of the zone.
    var isOfWholeZone: Bool {
        guard case .shares(let openings) = self else { return true }
        return openings.contains { $0.root == nil && $0.canWrite }
    }

    /// The names of a record and of all above it.
    func lineage(of record: StoredRecord, _ reader: any StorageReader) throws -> Set<String> {
        var lineage: Set<String> = [record.name]
        var next = record.parent
        while let name = next, lineage.count < Self.depthLimit, lineage.insert(name).inserted {
            next = try reader.record(record.zone, name: name)?.parent
        }
        return lineage
    }

    /// The share through which a record is seen, one with the right to write before others.
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
