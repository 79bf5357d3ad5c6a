import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension StoredRecord {
    /// The participants who saw a record when it was deleted: its tombstone is theirs alone, whatever
    /// is shared with others later.
    ///
    /// Nil for a live record, where shares decide, and for tombstones of earlier versions.
    var lastViewers: Set<RowID<StoredUser>>? {
        guard isDeleted, let extra,
            let numbers = try? JSONDecoder().decode([Int64].self, from: extra)
        else { return nil }
        return Set(numbers.map(RowID.init(rawValue:)))
    }

    /// Notes in a tombstone who saw the record.
    mutating func setLastViewers(_ viewers: Set<RowID<StoredUser>>) throws {
        extra = try JSONEncoder().encode(viewers.map(\.rawValue).sorted())
    }
}
