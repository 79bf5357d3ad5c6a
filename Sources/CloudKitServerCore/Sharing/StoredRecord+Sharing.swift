import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parts that the root or possible root of a share has in addition to other records' parts.
struct RootPart: Hashable, Sendable, Codable {
    /// The last part of its share's link, whether the share exists, has existed or may exist.
    var shortGUID: String

    /// The stored form.
    var stored: Data {
        get throws { try JSONEncoder().encode(self) }
    }
}

extension StoredRecord {
    /// The share's own parts; nil for other records and for tombstones.
    ///
    /// - Throws: `StorageError` when they cannot be read.
    var sharePart: SharePart? {
        get throws {
            guard !isDeleted, type == WireRecord.shareType else { return nil }
            return try extra.map { try SharePart(stored: $0) }
        }
    }

    /// The root's own parts; nil for records that were never shared and never got a short GUID, for
    /// shares and for tombstones.
    var rootPart: RootPart? {
        guard !isDeleted, !isDamaged, type != WireRecord.shareType, let extra else { return nil }
        // A damaged part shares nothing.
        return try? JSONDecoder().decode(RootPart.self, from: extra)
    }

    /// The participants who saw a record when it was deleted; only they see its tombstone, whatever
    /// is shared later.
    ///
    /// Nil for a live record, whose shares decide, and for tombstones of earlier versions.
    var lastViewers: Set<RowID<StoredUser>>? {
        guard isDeleted, let extra,
            // A damaged list counts as one of an earlier version.
            let numbers = try? JSONDecoder().decode([Int64].self, from: extra)
        else { return nil }
        return Set(numbers.map(RowID.init(rawValue:)))
    }

    /// Stores the record's viewers in its tombstone.
    mutating func setLastViewers(_ viewers: Set<RowID<StoredUser>>) throws {
        extra = try JSONEncoder().encode(viewers.map(\.rawValue).sorted())
    }
}
