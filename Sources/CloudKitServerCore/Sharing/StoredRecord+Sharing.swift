import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension StoredRecord {
    /// What a share has besides a record's own parts; nil for other records and for tombstones.
    ///
    /// - Throws: `StorageError` when it cannot be read.
    var sharePart: SharePart? {
        get throws {
            guard !isDeleted, type == WireRecord.shareType else { return nil }
            return try extra.map { try SharePart(stored: $0) }
        }
    }

    /// What the root of a share has besides a record's own parts; nil for records that nobody shared
    /// or asked a short GUID for, for shares and for tombstones.
    var rootPart: RootPart? {
        guard !isDeleted, !isDamaged, type != WireRecord.shareType, let extra else { return nil }
        return try? JSONDecoder().decode(RootPart.self, from: extra)
    }
}
