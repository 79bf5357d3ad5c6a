#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Documents and queues, which writes of different databases may change at the same time. A document
// that a transaction has read must be as it was when the transaction changes it; if it is not, the
// transaction runs again.
extension PostgresTransaction {
    func document(_ collection: String, _ name: String) throws -> Data? {
        let key = DocumentKey(collection, name)
        let place = RowCache.DocumentName(key)
        if let known = cache.document(place) { return known }
        var needs = StorageNeeds()
        needs.documents.insert(key)
        try read(needs)
        return cache.document(place) ?? nil
    }

    func documents(_ collection: String) throws -> [StoredDocument] {
        let place = ByteText(collection)
        if let known = cache.collections[place] { return known }
        var needs = StorageNeeds()
        needs.collections.insert(collection)
        try read(needs)
        return cache.collections[place] ?? []
    }

    func putDocument(_ collection: String, _ document: StoredDocument) throws {
        let key = RowCache.DocumentName(collection, document.name)
        let names: [Parameter] = [.text(collection), .text(document.name), .bytes(document.body)]
        switch changeable(key) {
        case .anything:
            state.changes.addApart(
                """
                INSERT INTO document (collection, name, body) VALUES ($1, $2, $3)
                ON CONFLICT (collection, name) DO UPDATE SET body = excluded.body
                """,
                names
            )
        case .absent:
            // Another transaction that has added it meanwhile makes this one fail.
            state.changes.addApart(
                "INSERT INTO document (collection, name, body) VALUES ($1, $2, $3)",
                names
            )
        case .known(let body):
            state.changes.addApart(
                """
                WITH changed AS (
                    UPDATE document SET body = $3
                    WHERE collection = $1 AND name = $2 AND body = $4 RETURNING 1
                ) SELECT require_unchanged((SELECT count(*) FROM changed) = 1)
                """,
                names + [.bytes(body)]
            )
        }
        written(key, document.body)
    }

    func removeDocument(_ collection: String, _ name: String) throws {
        let key = RowCache.DocumentName(collection, name)
        let names: [Parameter] = [.text(collection), .text(name)]
        switch changeable(key) {
        case .anything:
            state.changes.addApart(
                "DELETE FROM document WHERE collection = $1 AND name = $2",
                names
            )
        case .absent: return
        case .known(let body):
            state.changes.addApart(
                """
                WITH changed AS (
                    DELETE FROM document
                    WHERE collection = $1 AND name = $2 AND body = $3 RETURNING 1
                ) SELECT require_unchanged((SELECT count(*) FROM changed) = 1)
                """,
                names + [.bytes(body)]
            )
        }
        written(key, nil)
    }

    func removeDocuments(in collections: [String]) throws {
        try requireEverything()
        for collection in collections {
            state.changes.addApart(
                "DELETE FROM document WHERE \(Self.documentsIn)",
                Self.bounds(of: collection)
            )
        }
        cache.collections = [:]
        cache.documents = [:]
    }

    /// The condition for documents in a collection or its subcollections.
    static let documentsIn = "(collection = $1 OR (collection >= $2 AND collection < $3))"

    /// Returns the values of that condition: the character after the slash ends the range of names that
    /// begin with it.
    static func bounds(of collection: String) -> [Parameter] {
        [.text(collection), .text(collection + "/"), .text(collection + "0")]
    }

    func requireUnchanged(_ collection: String, _ name: String) throws {
        guard case .known(let body) = changeable(RowCache.DocumentName(collection, name)) else {
            return
        }
        // Whoever changes it waits until this transaction has ended.
        state.changes.addApart(
            """
            WITH found AS (
                SELECT 1 FROM document
                WHERE collection = $1 AND name = $2 AND body = $3 FOR SHARE
            ) SELECT require_unchanged((SELECT count(*) FROM found) = 1)
            """,
            [.text(collection), .text(name), .bytes(body)]
        )
    }

    /// The state in which a change must find a document.
    private enum Expected {
        case anything, absent
        case known(Data)
    }

    private func changeable(_ key: RowCache.DocumentName) -> Expected {
        // Nothing else writes, or the transaction has the row already.
        guard reach != .everything, !state.ownDocuments.contains(key) else { return .anything }
        return switch cache.document(key) {
        case nil: .anything
        case .some(nil): .absent
        case .some(let body?): .known(body)
        }
    }

    private func written(_ key: RowCache.DocumentName, _ body: Data?) {
        state.ownDocuments.insert(key)
        cache.put(key, body)
    }

    // MARK: Queues

    func pushes(_ queue: Data, limit: Int) throws -> [StoredPush] {
        if limit == 1 {
            if cache.oldestPushes[queue] == nil {
                var needs = StorageNeeds()
                needs.queues = [queue]
                try read(needs)
            }
            return [cache.oldestPushes[queue] ?? nil].compactMap(\.self)
        }
        return try all(
            "SELECT queue, id, slot, body FROM push WHERE queue = $1 ORDER BY id LIMIT $2",
            [.bytes(queue), .int(Int64(limit))],
            Self.push
        )
    }

    func filledQueues(_ queues: Set<Data>) throws -> Set<Data> {
        // One look into the index for each queue, however many items it has.
        Set(
            try all(
                """
                SELECT queue FROM unnest($1::bytea[]) AS asked (queue)
                WHERE EXISTS (SELECT 1 FROM push WHERE push.queue = asked.queue)
                """,
                [.manyBytes(Array(queues))]
            ) { $0.bytes(0) }
        )
    }

    func addPush(_ push: StoredPush) throws {
        changed(push.queue)
        state.changes.addApart(
            """
            INSERT INTO push (queue, id, slot, body)
            VALUES ($1, nextval('push_number'), $2, $3)
            ON CONFLICT (queue, slot) WHERE slot IS NOT NULL
            DO UPDATE SET id = excluded.id, body = excluded.body
            """,
            [.bytes(push.queue), .text(push.slot), .bytes(push.body)]
        )
    }

    func returnPush(_ push: StoredPush) throws {
        changed(push.queue)
        // The item's slot may have been taken meanwhile.
        state.changes.addApart(
            """
            INSERT INTO push (queue, id, slot, body) VALUES ($1, $2, $3, $4)
            ON CONFLICT DO NOTHING
            """,
            [.bytes(push.queue), .int(push.id.rawValue), .text(push.slot), .bytes(push.body)]
        )
    }

    func removePush(_ id: RowID<StoredPush>) throws {
        cache.oldestPushes = cache.oldestPushes.filter { $0.value?.id != id }
        state.changes.addApart("DELETE FROM push WHERE id = $1", [.int(id.rawValue)])
    }

    /// Notes that a queue may have another oldest item, and that it has a new one.
    private func changed(_ queue: Data) {
        cache.oldestPushes[queue] = nil
        state.news.queues?.insert(queue)
    }

    func removePushes(_ queue: Data, keepingNewest count: Int) throws {
        cache.oldestPushes[queue] = nil
        state.changes.addApart(
            """
            DELETE FROM push WHERE queue = $1 AND id <= (
                SELECT id FROM push WHERE queue = $1 ORDER BY id DESC LIMIT 1 OFFSET $2
            )
            """,
            [.bytes(queue), .int(Int64(count))]
        )
    }
}
#endif
