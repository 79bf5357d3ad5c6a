import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension StoredRecord {
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
