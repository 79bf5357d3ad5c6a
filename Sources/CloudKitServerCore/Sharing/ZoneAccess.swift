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
    private static let depthLimit = 100

    /// Whether the caller sees a record or its tombstone.
    func mayRead(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        try opening(of: record, reader) != nil
    }

    /// Whether the caller may change a record.
    func mayWrite(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        if self == .everything { return true }
        return try opening(of: record, reader)?.canWrite ?? false
    }

    /// Whether the caller may make a record below a parent.
    func mayCreate(
        below parent: String?,
        in zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> Bool {
        guard case .shares(let openings) = self else { return true }
        if openings.contains(where: { $0.root == nil && $0.canWrite }) { return true }
        guard let parent, let row = try reader.record(zone, name: parent) else { return false }
        return try mayWrite(row, reader)
    }

    /// The share through which a record is seen, one with the right to write before others.
    private func opening(
        of record: StoredRecord,
        _ reader: any StorageReader
    ) throws -> Opening? {
        guard case .shares(let openings) = self else {
            return Opening(share: "", root: nil, canWrite: true)
        }
        var lineage: Set<String> = [record.name]
        var next = record.parent
        while let name = next, lineage.count < Self.depthLimit, lineage.insert(name).inserted {
            next = try reader.record(record.zone, name: name)?.parent
        }
        let fitting = openings.filter { opening in
            opening.share == record.name || opening.root.map(lineage.contains) ?? true
        }
        return fitting.first(where: \.canWrite) ?? fitting.first
    }
}
