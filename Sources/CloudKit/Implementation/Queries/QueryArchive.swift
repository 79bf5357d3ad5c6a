import CloudKitWire
import Foundation

/// A query in a keyed archive: its request, from which the predicate is created again.
enum QueryArchive {
    typealias Contents = (
        recordType: CKRecord.RecordType, predicate: NSPredicate,
        sortDescriptors: [NSSortDescriptor]?
    )

    private static let type = "RecordType"
    private static let query = "swift-cloudkit.query"
    private static let nothing = "swift-cloudkit.nothing"

    /// The mapping that keeps owners' names, as IDs in an archive must.
    private static let owners = OwnerMapping(scope: .shared, caller: nil)

    static func encode(_ query: CKQuery, with coder: NSCoder) {
        coder.encode(query.recordType as NSString, forKey: type)
        // A query that the service cannot answer has no request, and is not restored.
        guard let translated = try? TranslatedQuery(query, owners: owners, home: nil),
            let data = try? WireJSON.encode(translated.wire)
        else { return }
        coder.encode(data as NSData, forKey: Self.query)
        coder.encode(translated.matchesNothing, forKey: nothing)
    }

    static func decode(_ coder: NSCoder) -> Contents? {
        guard let recordType = coder.string(forKey: type), !recordType.isEmpty,
            let data = coder.bytes(forKey: query),
            // Apple's decoders return nil for a damaged archive.
            let wire = try? WireJSON.decode(WireQuery.self, from: data)
        else { return nil }
        guard !coder.truth(forKey: nothing) else {
            return (recordType, NSPredicate(value: false), nil)
        }
        return (
            recordType, NSPredicate(wire.filterBy, owners: owners, home: nil),
            wire.sortBy.isEmpty ? nil : wire.sortBy.compactMap(NSSortDescriptor.make)
        )
    }
}
