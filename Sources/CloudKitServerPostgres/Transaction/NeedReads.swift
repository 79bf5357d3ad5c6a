#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The statements that read what needs name, except what a transaction knows already.
///
/// The needs of several requests share the statements of tables that are not divided by database.
struct NeedReads {
    /// A zone, by its row or by the name that the same round trip looks up.
    struct Place {
        var database: RowID<StoredDatabase>
        var zone: RowID<StoredZone>?
        var name = ""

        /// The condition for rows of the zone, with the places 1 and 2 of a statement.
        func condition(_ table: String = "") -> String {
            let zone =
                zone == nil
                ? "(SELECT id FROM zone WHERE database = $1 AND name = $2)" : "$2"
            return "\(table)database = $1 AND \(table)zone = \(zone)"
        }

        var parameters: [Parameter] {
            [.int(database.rawValue), zone.map { .int($0.rawValue) } ?? .text(name)]
        }
    }

    let transaction: PostgresTransaction
    /// The statements that needs do not share.
    private var statements: [Statement] = []
    var named = NamedReads()
    private var users: Set<RowID<StoredUser>> = []
    private var collections: [String] = []
    private var databases: [RowID<StoredEnvironment>: [DatabaseKey]] = [:]
    private var asked: Set<AnyHashable> = []

    init(_ transaction: PostgresTransaction) {
        self.transaction = transaction
    }

    /// Returns the reads without which it is not known in which databases needs are.
    func unknownPlaces(of needs: [StorageNeeds]) -> [Statement] {
        var keys: Set<DatabaseKey> = []
        var zones: Set<RowID<StoredZone>> = []
        for need in needs {
            if let key = need.database, !need.zones.isEmpty || need.listsZones,
                transaction.cache.databases[key] == nil, transaction.number(of: key) == nil
            {
                keys.insert(key)
            }
            for (id, contents) in need.zoneRows
            where !contents.isEmpty && transaction.cache.zoneRows[id] == nil
                && transaction.knownHome(of: id) == nil
            {
                zones.insert(id)
            }
        }
        return Dictionary(grouping: keys, by: \.environment).map(databases)
            + zones.map(zoneByNumber)
    }

    /// The statements of all needs that were added.
    var allStatements: [Statement] {
        var shared = databases.map(databases)
        if !users.isEmpty { shared.append(rows(of: users)) }
        if !collections.isEmpty { shared.append(documents(of: collections)) }
        return shared + named.statements(transaction) + statements
    }

    /// Adds the reads of needs.
    mutating func add(_ needs: StorageNeeds) {
        add(environments: needs.environments)
        users.formUnion(needs.users.filter { transaction.cache.users[$0] == nil })
        add(collections: needs.collections)
        add(documents: needs.documents)
        add(queues: needs.queues)
        if let key = needs.database { add(needs, of: key) }
        for (id, contents) in needs.zoneRows {
            if transaction.cache.zoneRows[id] == nil, isNew("z", id) {
                statements.append(zoneByNumber(id))
            }
            guard !contents.isEmpty, let home = transaction.knownHome(of: id)
            else { continue }
            add(contents, of: Place(database: RowID(rawValue: home), zone: id))
        }
    }

    /// Returns whether something was not asked for in this round trip yet.
    private mutating func isNew(_ kind: String, _ key: some Hashable) -> Bool {
        asked.insert(AnyHashable([AnyHashable(kind), AnyHashable(key)])).inserted
    }

    mutating func append(_ statement: Statement) { statements.append(statement) }

    // MARK: Directories

    private mutating func add(environments: Set<RowID<StoredEnvironment>>) {
        for id in environments
        where transaction.cache.environments[id] == nil && isNew("e", id) {
            statements.append(
                Statement(
                    sql: PostgresTransaction.selectEnvironment + " WHERE id = $1",
                    parameters: [.int(id.rawValue)]
                ) { [transaction] rows in
                    transaction.cache.environments[id] = .some(nil)
                    for row in rows {
                        transaction.cache.environments[id] = try PostgresTransaction.environment(
                            row
                        )
                    }
                }
            )
        }
    }

    /// Adds the reads of collections, which share a statement.
    mutating func add(collections names: Set<String>) {
        collections += names.filter {
            transaction.cache.collections[ByteText($0)] == nil && isNew("c", ByteText($0))
        }
    }

    private func rows(of users: Set<RowID<StoredUser>>) -> Statement {
        Statement(
            sql: PostgresTransaction.selectUser + " WHERE id = ANY($1)",
            parameters: [.ints(users.map(\.rawValue))]
        ) { [transaction] rows in
            for id in users { transaction.cache.users[id] = .some(nil) }
            for row in rows {
                let user = PostgresTransaction.user(row)
                transaction.cache.users[user.id] = .some(user)
            }
        }
    }

    private func documents(of collections: [String]) -> Statement {
        Statement(
            sql: """
                SELECT name, body, collection FROM document WHERE collection = ANY($1)
                ORDER BY collection, name
                """,
            parameters: [.texts(collections)]
        ) { [transaction] rows in
            var found = Dictionary(
                collections.map { (ByteText($0), [StoredDocument]()) },
                uniquingKeysWith: { first, _ in first }
            )
            for row in rows {
                found[ByteText(row.text(2)), default: []].append(
                    StoredDocument(name: row.text(0), body: row.bytes(1))
                )
            }
            transaction.cache.collections.merge(found) { $1 }
        }
    }

    private mutating func add(documents keys: Set<DocumentKey>) {
        var names: [ByteText: [String]] = [:]
        for key in keys {
            let name = RowCache.DocumentName(key)
            guard transaction.cache.document(name) == nil, isNew("d", name) else { continue }
            names[name.collection, default: []].append(key.name)
        }
        for (collection, names) in names {
            let collection = collection.text
            statements.append(
                Statement(
                    sql: "SELECT name, body FROM document WHERE collection = $1 AND name = ANY($2)",
                    parameters: [.text(collection), .texts(names)]
                ) { [transaction] rows in
                    for name in names {
                        let key = RowCache.DocumentName(collection, name)
                        transaction.cache.documents[key] = .some(nil)
                    }
                    for row in rows {
                        let key = RowCache.DocumentName(collection, row.text(0))
                        transaction.cache.documents[key] = .some(row.bytes(1))
                    }
                }
            )
        }
    }

    private mutating func add(queues: Set<Data>) {
        let missing = queues.filter { transaction.cache.oldestPushes[$0] == nil && isNew("q", $0) }
        guard !missing.isEmpty else { return }
        statements.append(
            Statement(
                sql: """
                    SELECT queue, id, slot, body FROM unnest($1::bytea[]) AS asked (queue),
                        LATERAL (
                            SELECT id, slot, body FROM push WHERE push.queue = asked.queue
                            ORDER BY id LIMIT 1
                        ) AS oldest
                    """,
                parameters: [.manyBytes(Array(missing))]
            ) { [transaction] rows in
                for queue in missing { transaction.cache.oldestPushes[queue] = .some(nil) }
                for row in rows {
                    let push = PostgresTransaction.push(row)
                    transaction.cache.oldestPushes[push.queue] = .some(push)
                }
            }
        )
    }

    private func databases(
        in environment: RowID<StoredEnvironment>,
        _ keys: [DatabaseKey]
    ) -> Statement {
        PostgresTransaction.selectDatabases(of: keys, in: environment) { [transaction] rows in
            for key in keys { transaction.cache.databases[key] = .some(nil) }
            for row in rows { transaction.cache.store(PostgresTransaction.database(row)) }
        }
    }

    private func zoneByNumber(_ id: RowID<StoredZone>) -> Statement {
        let home = transaction.knownHome(of: id)
        return Statement(
            sql: PostgresTransaction.selectZone
                + (home == nil ? " WHERE id = $1" : " WHERE database = $2 AND id = $1"),
            parameters: [.int(id.rawValue)] + (home.map { [.int($0)] } ?? [])
        ) { [transaction] rows in
            transaction.cache.zoneRows[id] = .some(nil)
            for row in rows { transaction.cache.store(PostgresTransaction.zone(row)) }
        }
    }

    // MARK: Zones

    private mutating func add(_ needs: StorageNeeds, of key: DatabaseKey) {
        if transaction.cache.databases[key] == nil, isNew("b", key) {
            databases[key.environment, default: []].append(key)
        }
        guard let number = transaction.number(of: key) else { return }
        let database = RowID<StoredDatabase>(rawValue: number)
        if needs.listsZones, transaction.cache.zoneLists[database] == nil,
            isNew("l", database)
        {
            statements.append(zones(of: database))
        }
        for name in needs.zones.keys
        where transaction.cache.zones[RowCache.ZoneName(database: database, name: name)] == nil {
            named.add(zone: Place(database: database, name: name))
        }
        for (name, contents) in needs.zones where !contents.isEmpty {
            var place = Place(database: database, name: name)
            if let known = transaction.cache.zones[
                RowCache.ZoneName(database: database, name: name)
            ] {
                guard let known else { continue }
                place.zone = known.id
            }
            add(contents, of: place)
        }
    }

    /// Returns the read of a database's live zones.
    func zones(of database: RowID<StoredDatabase>) -> Statement {
        Statement(
            sql: PostgresTransaction.selectZone
                + " WHERE database = $1 AND NOT is_deleted ORDER BY name",
            parameters: [.int(database.rawValue)]
        ) { [transaction] rows in
            let zones = rows.map(PostgresTransaction.zone)
            for zone in zones { transaction.cache.store(zone) }
            transaction.cache.zoneLists[database] = zones
        }
    }
}
#endif
