#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The writes of a copy, which go to the server together.
final class PostgresDataWriter: DataWriter {
    private(set) var statements: [Statement] = []

    func add(_ rows: [[DataValue]], to table: DataTable) throws {
        guard !rows.isEmpty else { return }
        let names = table.columns.map(\.name).joined(separator: ", ")
        var marks: [String] = []
        var parameters: [Parameter] = []
        for (place, column) in table.columns.enumerated() {
            let values = rows.lazy.map { $0[place] }
            switch column.kind {
            case .integer:
                marks.append("$\(place + 1)::bigint[]")
                parameters.append(.optionalInts(values.map(\.number)))
            case .flag:
                marks.append("$\(place + 1)::boolean[]")
                parameters.append(.bools(values.map { $0.number == 1 }))
            case .text, .bytes:
                marks.append("$\(place + 1)::bytea[]")
                parameters.append(.manyBytes(values.map(\.data)))
            }
        }
        run(
            """
            INSERT INTO \(table.name) (\(names))
            SELECT * FROM unnest(\(marks.joined(separator: ", ")))
            """,
            parameters
        )
    }

    func replaceCopyState(_ old: Data?, with new: Data?) throws {
        let name = Parameter.text(CopyState.setting)
        guard let old else {
            if let new {
                run("INSERT INTO setting (name, value) VALUES ($1, $2)", [name, .bytes(new)])
            }
            return
        }
        var change = "DELETE FROM setting WHERE name = $1 AND value = $2"
        var parameters = [name, .bytes(old)]
        if let new {
            change = "UPDATE setting SET value = $3 WHERE name = $1 AND value = $2"
            parameters.append(.bytes(new))
        } else {
            // All that was written before is durable with this.
            run("SET LOCAL synchronous_commit = on", [])
        }
        run(
            """
            WITH changed AS (\(change) RETURNING 1)
            SELECT require_unchanged((SELECT count(*) FROM changed) = 1)
            """,
            parameters
        )
    }

    func finishRows(_ counters: DataCounters) throws {
        run("SELECT setval('row_block', $1::bigint, false)", [.int(max(1, counters.row + 1))])
        run(
            "SELECT setval('push_number', greatest($1::bigint, 1), $1 > 0)",
            [.int(counters.push)]
        )
    }

    private func run(_ sql: String, _ parameters: [Parameter]) {
        statements.append(Statement(sql: sql, parameters: parameters, isPrepared: false))
    }
}
#endif
