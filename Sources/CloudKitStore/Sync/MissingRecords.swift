import CloudKit
import GRDB

/// The search for records that the server no longer has.
struct MissingRecords: Sendable {
    private let context: SyncContext
    private let file: StoreFile

    init(_ context: SyncContext) {
        self.context = context
        file = context.file
    }

    /// Returns the records of a zone that a fetch did not include, by name.
    func unseen(
        _ zone: StoreZone,
        before session: Int64,
        limit: Int = .max
    ) async throws -> [String] {
        try await file.read { database in
            // A version that this device saved itself counts as unseen, and is looked up by name.
            let statement = try database.cachedStatement(
                sql: """
                    SELECT name FROM grdb_cloudkit_record
                    WHERE system IS NOT NULL AND session < ? AND zone = ? ORDER BY name LIMIT ?
                    """
            )
            return try DatabaseValue.fetchAll(statement, arguments: [session, zone, limit])
                .map(StoredName.text)
        }
    }

    /// Returns those of some records that the server does not have.
    func among(_ names: [String], _ zone: StoreZone) async throws -> [String] {
        guard !names.isEmpty else { return [] }
        let ids = names.map {
            CKRecord.ID(recordName: KnownRecord.recordName($0), zoneID: file.id(zone))
        }
        var missing: [String] = []
        for (id, result) in try await context.database.records(for: ids, desiredKeys: []) {
            // Any other error leaves open whether the record exists.
            if case .failure(let error) = result, (error as? CKError)?.code == .unknownItem {
                missing.append(id.recordName)
            }
        }
        return missing.sorted()
    }
}
