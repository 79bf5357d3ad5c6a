#if PostgreSQL
import BenchmarkHarness
import CLibpq
import CloudKitWebClient
import Foundation
import Hummingbird
import Synchronization

extension PostgresBench {
    /// The numbers in the names of what all floors write.
    private static let floorNumber = Counter()

    /// Writes the rows of a modify of 200 records with libpq alone: tables and indexes like the engine's, the
    /// same values as arrays of prepared statements, one round trip, one durable transaction.
    ///
    /// The floor has no JSON, no HTTP, no tokens, no rules and no marker of its commit: it neither checks
    /// whether a record exists nor reads the zone.
    func rawInserts() async throws -> Work {
        let batch = users[0].batch
        _ = try await users[0].post(batch.body(99_999_999), to: users[0].url(.recordsModify))
        let writer = try FloorWriter(postgres.address, copying: 99_999_999, count: batch.count)
        return Work("libpq inserts of their rows", units: Double(batch.count)) {
            try writer.write(Self.floorNumber.next())
        }
    }

    /// Writes the rows of one-record saves with libpq alone: as many connections as the engine has, each with
    /// one transaction after the other, of one round trip or, as `pgbench` does it, of one for each statement.
    ///
    /// The floor leaves out the same things as ``rawInserts()``. No two connections write to the same zone.
    func rawTransactions(areStepwise: Bool = false) async throws -> Work {
        let note = NoteBatch(count: 1)
        let number = areStepwise ? 99_999_997 : 99_999_998
        for user in users {
            _ = try await user.post(note.body(number), to: user.url(.recordsModify))
        }
        let address = postgres.address
        let writers = try (0..<Self.connections).map { part in
            try FloorWriter(
                address,
                copying: number,
                count: 1,
                part: part,
                of: Self.connections
            )
        }
        let way = areStepwise ? "step by step" : "in one round trip each"
        return Work("libpq transactions of their rows \(way)", units: Double(Self.requests)) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in writers {
                    group.addTask {
                        try await onThread {
                            for _ in 0..<Self.requests / writers.count {
                                try writer.write(Self.floorNumber.next(), isStepwise: areStepwise)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Runs a handler that takes the same request, reads its record with a prepared SELECT, and returns a ready
    /// response of the same size.
    ///
    /// The floor has no JSON and no tokens, and it takes no snapshot. Requests that wait share a round trip.
    func plainSelects() async throws -> Work {
        let body = try users[0].lookupBody()
        let ready = ByteBuffer(
            bytes: try await users[0].post(body, to: users[0].url(.recordsLookup))
        )
        let (places, reader) = try FloorReader.start(postgres.address, Self.connections)
        let router = Router()
        router.post("lookup/:place") { request, context in
            _ = try await request.body.collect(upTo: 1 << 20)
            let place = try context.parameters.require("place", as: Int.self)
            guard try await reader.bytes(of: places[place]) > 0 else {
                throw HTTPError(.notFound)
            }
            return Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=UTF-8"],
                body: ResponseBody(byteBuffer: ready)
            )
        }
        let url = try await PlainServer.start(router)
        return work("plain Hummingbird handler with a SELECT") { user in
            _ = try await users[user].post(body, to: "\(url)/lookup/\(user)")
        }
    }

    /// Reads the same rows with libpq alone, each column taken.
    ///
    /// The floor has no JSON, no HTTP and no tokens.
    func rawPage() async throws -> Work {
        let connection = try FloorConnection(postgres.address)
        let count = users[0].batch.count
        let zone = try connection.zones()[0]
        let select = try connection.libpq.prepare(
            "SELECT * FROM record WHERE database = $1 AND zone = $2 AND sequence > $3 "
                + "ORDER BY sequence LIMIT $4"
        )
        return Work("the same SELECT with libpq", units: Double(count)) {
            let values = Values(zone.database, zone.id, 0, Int64(count))
            try connection.libpq.send(select, values)
            try connection.libpq.sync { result in
                guard PQntuples(result) == count else {
                    throw BenchError(description: "\(PQntuples(result)) rows in a page")
                }
                keep(FloorConnection.bytes(of: result))
            }
        }
    }
}

/// Runs a closure that blocks on a thread of its own.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A connection of a floor, which one thread uses at a time.
final class FloorConnection: @unchecked Sendable {
    /// A zone of a user.
    struct Zone: Sendable {
        var database: Int64
        var id: Int64
    }

    let libpq: Libpq

    init(_ address: String) throws { libpq = try Libpq(address) }

    /// Returns the zones of all users, in the order in which they were added.
    func zones() throws -> [Zone] {
        try libpq.rows(
            "SELECT database, id FROM zone WHERE name = '\(ServerBench.zone)' ORDER BY database"
        ).map { row in
            var values = Values()
            for column in row { values.append(column) }
            return Zone(database: values.number(0), id: values.number(1))
        }
    }

    /// Takes each column of a result, and returns the number of their bytes.
    static func bytes(of result: OpaquePointer) -> Int {
        var bytes = 0
        for row in 0..<PQntuples(result) {
            for column in 0..<PQnfields(result) {
                keep(PQgetvalue(result, row, column))
                bytes += Int(PQgetlength(result, row, column))
            }
        }
        return bytes
    }
}
#endif
