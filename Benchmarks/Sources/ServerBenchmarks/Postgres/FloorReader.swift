#if PostgreSQL
import Dispatch
import Foundation
import Synchronization

/// Threads with a connection each, which read one record for each request.
///
/// A thread takes several requests that wait, and sends their statements together.
final class FloorReader: Sendable {
    private struct Request: Sendable {
        var values: Values
        var continuation: CheckedContinuation<Int, any Error>
    }

    /// The number of requests that share a round trip at most.
    private static let share = 8

    private let waiting = Mutex<[Request]>([])
    private let signal = DispatchSemaphore(value: 0)

    /// Starts the threads, which end with the process; returns the users' records with it.
    static func start(
        _ address: String,
        _ count: Int
    ) throws -> (records: [Values], reader: FloorReader) {
        let reader = FloorReader()
        let zones = try FloorConnection(address).zones()
        for _ in 0..<count {
            let connection = try FloorConnection(address)
            Thread.detachNewThread { reader.work(connection) }
        }
        let records = zones.map { zone in
            var values = Values(zone.database, zone.id)
            values.append(Array("lookup".utf8))
            return values
        }
        return (records, reader)
    }

    /// Returns the number of bytes of a record's columns.
    func bytes(of record: Values) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            waiting.withLock { $0.append(Request(values: record, continuation: continuation)) }
            signal.signal()
        }
    }

    private func work(_ connection: FloorConnection) {
        var select: String?
        while true {
            signal.wait()
            let requests = waiting.withLock { waiting in
                let taken = Array(waiting.prefix(Self.share))
                waiting.removeFirst(taken.count)
                return taken
            }
            do {
                let statement =
                    try select
                    ?? connection.libpq.prepare(
                        "SELECT * FROM record WHERE database = $1 AND zone = $2 AND name = $3"
                    )
                select = statement
                var place = 0
                for request in requests { try connection.libpq.send(statement, request.values) }
                guard !requests.isEmpty else { continue }
                var bytes: [Int] = []
                try connection.libpq.sync { bytes.append(FloorConnection.bytes(of: $0)) }
                while place < requests.count {
                    requests[place].continuation.resume(returning: bytes[place])
                    place += 1
                }
            } catch {
                for request in requests { request.continuation.resume(throwing: error) }
            }
        }
    }
}
#endif
