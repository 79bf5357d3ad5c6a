import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
}
