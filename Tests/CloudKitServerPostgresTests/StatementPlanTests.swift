#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitWire
import Foundation
import ServerFixtures
import Synchronization
import Testing

@Suite(
    "Plans of statements on PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct StatementPlanTests {
    /// The statements that may read several partitions, or more rows than a page has, by words that
    /// only they have, and the reason.
    private static let exceptions = [
        (
            words: "INSERT INTO index_entry (database, zone, number, key, record) SELECT DISTINCT",
            reason: "a schema gets a field, once: all records of the type get an entry for it"
        )
    ]

    @Test(
        "Those of requests read one partition each, and no more rows than they need",
        arguments: [0, 16]
    )
    func statements(partitions: Int) async throws {
        let server = try PostgresServer(.init(settings: StatementPlan.settings))
        let address = try server.newDatabase()
        let node = ChangingNode(try await PostgresServer.open(address, partitions: partitions))
        let world = try await RequestWorld(node)
        try await world.send("a")
        // A node that has just started knows no database and no zone.
        node.change(to: try await PostgresServer.open(address))
        try await world.send("b")
        // Before the test's own statement, which the server also writes to its log.
        let plans = try StatementPlan.all(in: server.log)
        let columns = try server.indexColumns(in: address)
        #expect(Set(plans.map(\.text)).count > 60)
        Self.check(plans, columns)
    }

    private static func check(
        _ plans: [StatementPlan],
        _ columns: [String: [String]]
    ) {
        var reported: Set<String> = []
        var used: Set<String> = []
        for plan in plans {
            let problems = plan.problems(columns, limit: RequestWorld.records)
            guard !problems.isEmpty else { continue }
            if let known = exceptions.first(where: { plan.text.contains($0.words) }) {
                used.insert(known.words)
            } else if reported.insert(plan.text).inserted {
                Issue.record("\(problems.joined(separator: "; ")): \(plan.text)")
            }
        }
        for exception in exceptions where !used.contains(exception.words) {
            Issue.record("No statement needs the exception for \(exception.words)")
        }
    }
}

/// A storage whose requests go to one node, and later to another one.
private final class ChangingNode: Storage {
    private let node: Mutex<PostgresStorage>

    init(_ node: PostgresStorage) { self.node = Mutex(node) }

    private var current: PostgresStorage { node.withLock { $0 } }

    func change(to other: PostgresStorage) { node.withLock { $0 = other } }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await current.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await current.write(body)
    }

    func read<Value: Sendable>(
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await current.read(needing: needs, body)
    }

    func write<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await current.write(scope, needing: needs, body)
    }
}

extension PostgresServer {
    /// The server's log so far.
    var log: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: data + "/log")) } }

    /// Returns the columns of each index of a database, in their order.
    func indexColumns(in address: String) throws -> [String: [String]] {
        let lines = try run(
            """
            SELECT class.relname || ' ' || string_agg(attname, ' ' ORDER BY attnum)
            FROM pg_attribute JOIN pg_class AS class ON class.oid = attrelid
            WHERE class.relkind = 'i' AND class.relnamespace = 'public'::regnamespace
            GROUP BY class.relname
            """,
            in: address
        ).split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return Dictionary(uniqueKeysWithValues: lines.map { ($0[0], Array($0.dropFirst())) })
    }
}
#endif
