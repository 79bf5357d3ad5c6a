import BenchmarkHarness
import CloudKitWebClient
import Foundation
import GRDB

extension ServerBench {
    /// Reads a zone's change feed in pages of 200.
    func changesPage() async throws -> Work {
        for number in 1...5 {
            _ = try await post(batch.body(90_000_000 + number), to: url(.recordsModify))
        }
        let (body, url) = (try changesBody(), url(.changesZone))
        return Work("page of 200 changes over HTTP", units: Double(batch.count)) {
            _ = try await post(body, to: url)
        }
    }

    private func changesBody() throws -> Data {
        try WireJSON.encode(
            ZoneChangesRequest(
                zones: [
                    .init(zoneID: WireZoneID(zoneName: Self.zone), resultsLimit: batch.count)
                ]
            )
        )
    }

    /// Reads the same rows in a plain handler.
    func servedRows() async throws -> Work { try await servedPage(of: try rawRows()) }

    /// Does the least work of a page of changes in a plain handler.
    func servedPage(of work: Work) async throws -> Work {
        _ = try await changesPage()
        return try await served(work, try changesBody(), to: url(.changesZone))
    }

    /// Reads the same rows from SQLite, with every column.
    ///
    /// The floor has no JSON, no HTTP and no tokens.
    func rawRows() throws -> Work {
        let path = directory.appendingPathComponent("cloud.sqlite").path
        let pool = try DatabasePool(path: path)
        let zone = try pool.read { database in
            try Int64.fetchOne(
                database,
                sql: "SELECT content FROM zone WHERE name = ?",
                arguments: [Self.zone]
            )
        }
        let count = batch.count
        return Work("the same rows from SQLite", units: Double(count)) {
            let bytes = try await pool.read { database in
                let statement = try database.cachedStatement(
                    sql: """
                        SELECT * FROM record WHERE zone = ? AND sequence > 0
                        ORDER BY sequence LIMIT ?
                        """
                )
                let rows = try Row.fetchCursor(statement, arguments: [zone, count])
                var bytes = 0
                while let row = try rows.next() {
                    for value in row.databaseValues {
                        bytes += String.fromDatabaseValue(value)?.utf8.count ?? 8
                    }
                }
                return bytes
            }
            keep(bytes)
        }
    }
}
