import CloudKitBasics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Protects assets that a record may no longer hold from being removed while a receipt or an
/// archive's link refers to them.
///
/// An asset is held in the same commit in which a record is found to have it, so it is protected by
/// one of the two at every moment.
struct AssetHolds {
    private static let collection = "assetHold"

    /// Holds assets until a time, in milliseconds since 1970-01-01 UTC; never shortens an existing hold.
    func hold(
        _ checksums: some Sequence<Data>,
        until end: Int64,
        _ writer: any StorageWriter
    ) throws {
        for checksum in Set(checksums) {
            let name = Hexadecimal.text(checksum)
            if let known = try writer.document(Self.collection, name), Self.end(known) >= end {
                continue
            }
            try writer.putDocument(
                Self.collection,
                StoredDocument(name: name, body: Data(String(end).utf8))
            )
        }
    }

    func holds(_ checksum: Data, now: Int64, _ reader: any StorageReader) throws -> Bool {
        let name = Hexadecimal.text(checksum)
        return try reader.document(Self.collection, name).map { Self.end($0) > now } ?? false
    }

    /// Removes the expired holds.
    func clean(now: Int64, _ writer: any StorageWriter) throws {
        for document in try writer.documents(Self.collection) where Self.end(document.body) <= now {
            try writer.removeDocument(Self.collection, document.name)
        }
    }

    private static func end(_ body: Data) -> Int64 {
        Int64(String(decoding: body, as: UTF8.self)) ?? 0
    }
}
