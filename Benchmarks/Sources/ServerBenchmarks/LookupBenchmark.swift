import BenchmarkHarness
import CloudKitWebClient
import Foundation
import Hummingbird

extension ServerBench {
    /// The number of requests of one call, over as many connections as there are tasks.
    private static let requests = 64
    private static let tasks = 8

    /// Looks up one record.
    func lookup() async throws -> Work {
        let (body, url) = (try lookupBody(), url(.recordsLookup))
        try await saveLookupRecord()
        return Work("lookup of one record over HTTP", units: Double(Self.requests)) {
            try await concurrently { _ = try await post(body, to: url) }
        }
    }

    /// Runs a handler that takes the same request and returns a prepared response of the same size.
    ///
    /// The floor has no JSON, no tokens, no storage.
    func plainHandler() async throws -> Work {
        _ = try await lookup()
        let body = try lookupBody()
        let response = ByteBuffer(bytes: try await post(body, to: url(.recordsLookup)))
        let router = Router()
        router.post("lookup") { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=UTF-8"],
                body: ResponseBody(byteBuffer: response)
            )
        }
        let url = try await PlainServer.start(router) + "/lookup"
        return Work("plain Hummingbird handler", units: Double(Self.requests)) {
            try await concurrently { _ = try await post(body, to: url) }
        }
    }

    /// Saves the record that is looked up.
    func saveLookupRecord() async throws {
        let note = RecordOperation(.forceReplace, NoteBatch.note("lookup", 1))
        _ = try await client.modifyRecords(
            ModifyRecordsRequest(
                operations: [note],
                zoneID: WireZoneID(zoneName: Self.zone)
            ),
            in: .private
        )
    }

    func lookupBody() throws -> Data {
        try WireJSON.encode(
            LookupRecordsRequest(
                records: [.init(recordName: "lookup")],
                zoneID: WireZoneID(zoneName: Self.zone)
            )
        )
    }

    private func concurrently(_ request: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<Self.tasks {
                group.addTask {
                    for _ in 0..<Self.requests / Self.tasks { try await request() }
                }
            }
            try await group.waitForAll()
        }
    }
}
