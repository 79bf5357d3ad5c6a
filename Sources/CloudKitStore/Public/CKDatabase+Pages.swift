import CloudKit

extension CKDatabase {
    /// Hands the pages of a query to a closure; a type that the server does not know yet has none.
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
