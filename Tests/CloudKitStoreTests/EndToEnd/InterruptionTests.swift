import CloudKit
import CloudKitStore
import CloudKitWebClient
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@Suite("Nothing is lost when things go wrong", .timeLimit(.minutes(10)))
struct InterruptionTests {
    /// Runs a test with a phone whose transport is scripted, and a laptop.
    private func withScript(
        _ body:
            @Sendable (
                _ phone: Device, _ laptop: Device, _ transport: InterruptedTransport,
                _ reopen: @Sendable () async throws -> Device
            ) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            let phone = try await Device(cloud, user, transport: { holder.wrap($0) })
            let laptop = try await Device(cloud, user)
            let transport = holder.transport
            try await body(phone, laptop, transport) {
                await phone.store.stop()
                return try await Device(cloud, user, database: phone.database)
            }
        }
    }

    @Test("A request that never arrived is repeated")
    func cut() async throws {
        try await withScript { phone, laptop, transport, _ in
            try await phone.store.sync()
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 't')")
            for _ in 0..<20 { transport.fail("records/modify", .cut) }
            await #expect(throws: CKError.self) { try await phone.store.sync() }
            #expect(try await phone.store.status.waitingToSend == 1)
            #expect(try await phone.store.status.obstacle != nil)
            transport.script.withLock { $0.faults = [] }
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "t")
            #expect(try await phone.store.status.isSettled)
        }
    }

    @Test(
        "A save whose response was lost counts once, even after another device saved on top",
        arguments: [nil, 2, 3, 4] as [Int?]
    )
    func lostResponse(fileVersion: Int?) async throws {
        try await withScript { phone, laptop, transport, reopen in
            try await phone.run("INSERT INTO note (id, count) VALUES ('n', 10)")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET count = count + 1")
            transport.fail("records/modify", .lost)
            for _ in 0..<20 { transport.fail("records/modify", .cut) }
            await #expect(throws: CKError.self) { try await phone.store.sync() }
            let onServer = try await laptop.cloud.record(for: Device.id("note:n"))
            #expect(onServer["count"] as Int64? == 11)
            try await laptop.run("UPDATE note SET count = count + 100")
            try await laptop.store.sync()
            // The process ends, and another opens the file.
            await phone.store.stop()
            if let fileVersion {
                try await OldFile.turn(phone, into: fileVersion)
                // An app may have a view that SQLite can no longer compile.
                try await phone.run("CREATE VIEW broken AS SELECT * FROM lost")
            }
            let again = try await reopen()
            try await again.run("UPDATE note SET count = count + 1000")
            try await settle(again, laptop)
            #expect(try await again.value("SELECT count FROM note") == "1111")
            #expect(try await laptop.value("SELECT count FROM note") == "1111")
        }
    }

    @Test("An edit that is made during the upload stays in the outbox, and is sent next")
    func editDuringUpload() async throws {
        try await withScript { phone, laptop, transport, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'one')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET title = 'two'")
            let database = phone.database
            transport.before("records/modify") {
                try await database.write {
                    try $0.execute(sql: "UPDATE note SET title = 'three', body = 'b'")
                }
            }
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title || body FROM note") == "threeb")
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("An edit of another field that reaches the server during the upload is seen")
    func otherDeviceDuringUpload() async throws {
        try await withScript { phone, laptop, transport, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'one')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET title = 'phone'")
            transport.before("records/modify") {
                try await laptop.run("UPDATE note SET body = 'laptop'")
                try await laptop.store.sync()
            }
            try await settle(phone, laptop)
            #expect(try await phone.value("SELECT title || body FROM note") == "phonelaptop")
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("An edit that reaches the server before a deletion is not deleted with it")
    func editBeforeDeletion() async throws {
        try await withScript { phone, laptop, transport, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'one')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM note")
            // The laptop's edit happens after the phone has fetched.
            transport.before("records/lookup") {
                try await laptop.run("UPDATE note SET title = 'edited'")
                try await laptop.store.sync()
            }
            try await settle(phone, laptop)
            #expect(try await phone.value("SELECT title FROM note") == "edited")
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("A row that is made again while the deletion of its record travels stays, and is sent")
    func remadeDuringDeletion() async throws {
        try await withScript { phone, laptop, transport, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'one')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM note")
            let database = phone.database
            transport.before("records/modify") {
                try await database.write {
                    try $0.execute(sql: "INSERT INTO note (id, title) VALUES ('n', 'two')")
                }
            }
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "two")
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("A sync that failed does not stop the next one")
    func failedThenFine() async throws {
        try await withScript { phone, laptop, transport, _ in
            try await phone.store.sync()
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 't')")
            transport.fail("records/modify", .refused(status: 500, code: "INTERNAL_ERROR"))
            _ = try? await phone.store.sync()
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT title FROM note") == "t")
            #expect(try await phone.store.status.isSettled)
        }
    }

    @Test("One record that is too large is quarantined with its reason, and the rest goes on")
    func tooLarge() async throws {
        try await withScript { phone, laptop, _, _ in
            let text = String(repeating: "x", count: 1_200_000)
            try await phone.run("INSERT INTO note (id, body) VALUES ('big', ?)", [text])
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A'), ('z', 'Z')")
            _ = try? await phone.store.sync()
            let status = try await phone.store.status
            #expect(status.quarantined.map(\.key) == ["big"])
            #expect(status.quarantined.first?.reason.contains("note:big") == true)
            await #expect(throws: CloudStoreError.self) { try await phone.store.settled() }
            try await laptop.store.sync()
            #expect(try await laptop.rows().count == 2)
            try await phone.run("UPDATE note SET body = 'short' WHERE id = 'big'")
            try await settle(phone, laptop)
            #expect(try await laptop.rows() == phone.rows())
            #expect(try await phone.store.status.isSettled)
        }
    }

    @Test("A batch too large for a proxy goes in halves; a record too large for it is quarantined")
    func halving() async throws {
        try await withScript { phone, laptop, transport, _ in
            try await phone.store.sync()
            transport.script.withLock {
                $0.response = { request in
                    guard request.url.contains("records/modify"), request.body?.count ?? 0 > 3_000
                    else { return nil }
                    return TransportResponse(status: 413, body: Data("<html>Too Large".utf8))
                }
            }
            let body = String(repeating: "b", count: 500)
            let large = String(repeating: "l", count: 5_000)
            for number in 0..<40 {
                try await phone.run(
                    "INSERT INTO note (id, body) VALUES (?, ?)",
                    ["n\(number)", number == 20 ? large : body]
                )
            }
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT count(*) FROM note") == "39")
            let status = try await phone.store.status
            #expect(status.quarantined.map(\.key) == ["n20"])
            #expect(status.quarantined.first?.reason.contains("413") == true)
            #expect(status.waitingToSend == 0)
            try await phone.run("UPDATE note SET body = 'short' WHERE id = 'n20'")
            try await settle(phone, laptop)
            #expect(try await laptop.rows() == phone.rows())
            #expect(try await phone.store.status.isSettled)
        }
    }

    @Test("A row that the server refuses is quarantined with its reason")
    func refused() async throws {
        let tables: [SyncedTable] = [.table("event", forms: ["tags": .list])]
        let schema = "CREATE TABLE event (id TEXT PRIMARY KEY NOT NULL, tags TEXT)"
        try await withTwoDevices(tables: tables, schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO event VALUES ('a', '[\"x\"]')")
            try await phone.store.sync()
            // The elements of a list field have one type.
            try await phone.run("INSERT INTO event VALUES ('b', '[1]'), ('c', '[\"y\"]')")
            try await phone.store.sync()
            let status = try await phone.store.status
            #expect(status.quarantined.map(\.key) == ["b"])
            #expect(status.quarantined.first?.reason.contains("tags") == true)
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT group_concat(id) FROM event") == "a,c")
        }
    }

    @Test("A record of the wrong type from the server is quarantined, and the rest goes on")
    func wrongType() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.store.sync()
            let wrong = CKRecord(recordType: "note", recordID: Device.id("elsewhere"))
            wrong["title"] = "made by another program"
            let list = CKRecord(recordType: "note", recordID: Device.id("note:list"))
            list["tags"] = "no list"
            try await phone.cloud.save(wrong)
            try await phone.cloud.save(list)
            try await phone.run("INSERT INTO note (id, title) VALUES ('fine', 'fine')")
            try await settle(phone, laptop)
            #expect(try await laptop.rows().count == 1)
            let reasons = try await laptop.store.status.quarantined.map(\.reason)
            #expect(reasons.count == 2)
            #expect(reasons.contains { $0.contains("'elsewhere'") })
            #expect(reasons.contains { $0.contains("'tags'") })
        }
    }

    @Test("While the app says there is no connection, nothing is asked of the server")
    func paused() async throws {
        try await withScript { phone, _, transport, _ in
            try await phone.store.sync()
            phone.store.pause()
            try await phone.run("INSERT INTO note (id) VALUES ('n')")
            let count = transport.requestCount
            #expect(try await phone.store.sync() == SyncSummary())
            #expect(transport.requestCount == count)
            #expect(try await phone.store.status.obstacle == .paused)
            phone.store.resume()
            #expect(try await phone.store.sync().saved == 1)
        }
    }

    @Test("A field that was accepted is not sent again with one that changed meanwhile")
    func acceptedField() async throws {
        try await withScript { phone, _, transport, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'base')")
            try await phone.store.sync()
            let bodies = Mutex<[String]>([])
            transport.script.withLock {
                $0.response = { request in
                    let body = String(decoding: request.body ?? Data(), as: UTF8.self)
                    if request.url.contains("records/modify") {
                        bodies.withLock { $0.append(body) }
                    }
                    return nil
                }
            }
            transport.before("records/modify") {
                try await phone.run("UPDATE note SET body = 'late' WHERE id = 'n'")
            }
            try await phone.run("UPDATE note SET title = 'edited' WHERE id = 'n'")
            try await phone.store.sync()
            let sent = bodies.withLock(\.self)
            #expect(sent.map { $0.contains("\"title\":") } == [true, false])
            #expect(sent.map { $0.contains("\"body\":") } == [false, true])
            transport.script.withLock { $0.response = nil }
        }
    }
}
