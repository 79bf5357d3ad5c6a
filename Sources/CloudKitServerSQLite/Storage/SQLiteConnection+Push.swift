import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteConnection {
    func pushes(_ queue: Data, limit: Int) throws -> [StoredPush] {
        try all(
            "SELECT id, slot, body FROM push WHERE queue = ? ORDER BY id LIMIT ?",
            [queue, limit]
        ) { row in
            StoredPush(id: RowID(rawValue: row[0]), queue: queue, slot: row[1], body: row[2])
        }
    }

    func addPush(_ push: StoredPush) throws {
        if let slot = push.slot {
            try run("DELETE FROM push WHERE queue = ? AND slot = ?", [push.queue, slot])
        }
        try run(
            "INSERT INTO push (queue, slot, body) VALUES (?, ?, ?)",
            [push.queue, push.slot, push.body]
        )
    }

    func returnPush(_ push: StoredPush) throws {
        // The item's slot may have been taken meanwhile.
        try run(
            "INSERT OR IGNORE INTO push (id, queue, slot, body) VALUES (?, ?, ?, ?)",
            [push.id.rawValue, push.queue, push.slot, push.body]
        )
    }

    func removePush(_ id: RowID<StoredPush>) throws {
        try run("DELETE FROM push WHERE id = ?", [id.rawValue])
    }

    func removePushes(_ queue: Data, keepingNewest count: Int) throws {
        try run(
            """
            DELETE FROM push WHERE queue = ? AND id <= (
                SELECT id FROM push WHERE queue = ? ORDER BY id DESC LIMIT 1 OFFSET ?
            )
            """,
            [queue, queue, count]
        )
    }
}
