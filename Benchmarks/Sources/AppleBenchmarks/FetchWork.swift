import BenchmarkHarness
import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import Synchronization

/// Fetches all records of a zone.
enum FetchWork {
    /// Returns the fetch of 10,000 records over HTTP as `CKRecord`s, and that of the same bytes as
    /// plain structs.
    ///
    /// Both receive prepared responses from a plain server.
    static func records(
        _ count: Int,
        from server: NoteServer
    ) async throws -> (subject: Work, floor: Work) {
        let recorded = RecordedRequests()
        try await fetchPages(count, from: server.database(over: recorded))
        let url = try await ReplayServer.start(recorded.exchanges)
        let database = CKContainer(client: server.client(over: HTTPTransport(), at: url))
            .privateCloudDatabase
        let requests = recorded.exchanges.map(\.request).filter { $0.url.contains("changes/zone") }
            .map { request in
                var request = request
                request.url = url + request.url.dropFirst(server.client.url.count)
                return request
            }
        let subject = Work("CKRecords", units: Double(count)) {
            try await fetchPages(count, from: database)
        }
        let floor = Work("the bytes and JSONDecoder", units: Double(count)) {
            let transport = HTTPTransport()
            var records: [PlainChanges.Record] = []
            for request in requests {
                let response = try await transport.send(request)
                let page = try JSONDecoder().decode(PlainChanges.self, from: response.body)
                records += page.zones[0].records
            }
            guard records.count == count else { throw Unequal() }
        }
        return (subject, floor)
    }

    private static func fetchPages(_ count: Int, from database: CKDatabase) async throws {
        var records: [CKRecord] = []
        var token: CKServerChangeToken?
        var isComplete = false
        while !isComplete {
            let page = try await database.recordZoneChanges(
                inZoneWith: Note.zoneID,
                since: token
            )
            for result in page.modificationResultsByID.values {
                records.append(try result.get().record)
            }
            token = page.changeToken
            isComplete = !page.moreComing
        }
        guard records.count == count else { throw Unequal() }
    }

    /// Returns the fetch of all records of a zone, by an operation whose block keeps none.
    static func dropping(_ count: Int, from server: NoteServer) -> Work {
        let database = server.database()
        return Work("\(count) records", units: Double(count)) {
            let seen = Counter()
            let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [Note.zoneID])
            operation.recordWasChangedBlock = { _, result in
                if case .success = result { seen.add() }
            }
            try await withCheckedThrowingContinuation { continuation in
                operation.fetchRecordZoneChangesResultBlock = { continuation.resume(with: $0) }
                database.add(operation)
            }
            guard seen.value == count else { throw Unequal() }
        }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func add() { count.withLock { $0 += 1 } }
    }
}
