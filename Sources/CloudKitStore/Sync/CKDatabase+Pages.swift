import CloudKit
import Foundation

extension CKDatabase {
    /// Returns the tags of all records of a type, by name.
    func tags(ofType type: CKRecord.RecordType) async throws -> [String: String] {
        var tags: [String: String] = [:]
        let all = CKQuery(recordType: type, predicate: NSPredicate(value: true))
        try await pages(of: all, desiredKeys: []) { records in
            for record in records {
                tags[record.recordID.recordName] = record.recordChangeTag ?? ""
            }
        }
        return tags
    }

    /// Passes the pages of a query to a closure; a type unknown to the server has none.
    func pages(
        of query: CKQuery,
        desiredKeys keys: [CKRecord.FieldKey]? = nil,
        _ body: ([CKRecord]) async throws -> Void
    ) async throws {
        var page:
            (
                matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                queryCursor: CKQueryOperation.Cursor?
            )
        do {
            page = try await records(matching: query, desiredKeys: keys)
        } catch let error as CKError where error.code == .unknownItem {
            return
        }
        while true {
            try await body(try page.matchResults.map { try $0.1.get() })
            guard let cursor = page.queryCursor else { return }
            page = try await records(continuingMatchFrom: cursor, desiredKeys: keys)
        }
    }
}
