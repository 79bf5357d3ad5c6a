import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        /// The zone's newest change when the share was made.
        var madeAfter: Int64 = 0
    }

    /// Levels of a hierarchy that are climbed at most.
    private static let depthLimit = 100

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
        let fitting =
            record.isDeleted
            ? try knowing(record, among: openings, reader)
            : try openings.filter(fits(record, reader))
        return fitting.first(where: \.canWrite) ?? fitting.first
    }

    private func fits(
        _ record: StoredRecord,
        _ reader: any StorageReader
    ) throws -> (Opening) -> Bool {
        let lineage = try lineage(of: record, reader)
        return { opening in
            opening.share == record.name || opening.root.map(lineage.contains) ?? true
        }
    }

    /// The shares in which a record was when it was deleted: who takes part in another has never seen
    /// it, wherever what was above it lies now.
    private func knowing(
        _ tombstone: StoredRecord,
        among openings: [Opening],
        _ reader: any StorageReader
    ) throws -> [Opening] {
        let since = openings.filter { $0.madeAfter < tombstone.sequence }
        guard let shares = tombstone.sharesAtDeletion else {
            return try since.filter(fits(tombstone, reader))
        }
        return since.filter { $0.root == nil || shares.contains($0.share) }
    }

    /// The shares of a hierarchy in which a record is, by the names of the shares.
    static func shares(
        of record: StoredRecord,
        _ reader: any StorageReader
    ) throws -> Set<String> {
        var shares: Set<String> = []
        for name in try ZoneAccess.everything.lineage(of: record, reader) {
            guard let share = try reader.record(record.zone, name: name)?.share else { continue }
            shares.insert(share)
        }
        return shares
    }
}

extension StoredRecord {
    /// Of a tombstone, the shares of a hierarchy in which the record was; nil where that was not kept,
    /// as of records that had nothing above them.
    var sharesAtDeletion: Set<String>? {
        get {
            guard isDeleted, let extra else { return nil }
            return try? JSONDecoder().decode(Set<String>.self, from: extra)
        }
        set { extra = newValue.flatMap { try? JSONEncoder().encode($0.sorted()) } }
    }
}
