import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Testing

/// Defects of Stitch that no other suite checks here; see `docs/compatibility/stitch.md`.
@Suite("Defects of Stitch are none of this store's", .timeLimit(.minutes(10)))
struct StitchDefectTests {
    @Test("Deletions of several devices at once all reach all, whoever sends one meanwhile")
    func deletions() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            let phone = try await Device(cloud, user, transport: { holder.wrap($0) })
            let laptop = try await Device(cloud, user)
            try await phone.run("INSERT INTO note (id) VALUES ('a'), ('b'), ('c')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM note WHERE id = 'a'")
            try await laptop.run("DELETE FROM note WHERE id = 'b'")
            // The laptop's deletion happens between the phone's fetch and its send.
            holder.transport.before("records/modify") { try await laptop.store.sync() }
            try await phone.store.sync()
            try await settle(phone, laptop)
            #expect(try await phone.value("SELECT group_concat(id) FROM note") == "c")
            #expect(try await laptop.rows() == phone.rows())
        }
    }

    @Test("When the client wins a field, the server's other fields are not discarded")
    func clientWins() async throws {
        let tables: [SyncedTable] = [
            .table("folder"),
            .table("note", rule: .client, localOnly: ["draft"], forms: ["tags": .list]),
        ]
        try await withTwoDevices(tables: tables) { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title, body) VALUES ('n', 't', 'b')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET title = 'phone', body = 'phone'")
            try await laptop.run("UPDATE note SET title = 'laptop'")
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                #expect(try await device.value("SELECT title || body FROM note") == "laptopphone")
            }
        }
    }

    @Test("Destroying the zone leaves subscriptions of other names alone")
    func subscriptions() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user)
            try await phone.run("INSERT INTO note (id) VALUES ('n')")
            try await phone.store.sync()
            let subscription = CKDatabaseSubscription(subscriptionID: "CloudKitStore")
            subscription.notificationInfo = .init(shouldSendContentAvailable: true)
            try await phone.cloud.save(subscription)
            try await phone.store.destroyZone()
            let names = try await phone.cloud.allSubscriptions().map(\.subscriptionID)
            #expect(names.contains("CloudKitStore"))
        }
    }

    @Test("Assets of more rows than a request holds are all downloaded, and each is reported once")
    func manyAssets() async throws {
        let schema = "CREATE TABLE photo (id TEXT PRIMARY KEY NOT NULL, bytes BLOB)"
        let tables: [SyncedTable] = [.table("photo", assets: ["bytes": .onDemand])]
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user, tables: tables, schema: schema)
            var configuration = Device.configuration
            configuration.batchLimit = 2
            let laptop = try await Device(
                cloud,
                user,
                tables: tables,
                schema: schema,
                configuration: configuration
            )
            for index in 0..<5 {
                try await phone.run(
                    "INSERT INTO photo VALUES (?, ?)",
                    ["p\(index)", Data(repeating: UInt8(index), count: 2000)]
                )
            }
            try await settle(phone, laptop)
            let changes = try await laptop.store.downloadAssets(in: "photo")
            #expect(changes.map(\.key).sorted() == ["p0", "p1", "p2", "p3", "p4"])
            #expect(try await laptop.rows(["photo"]) == phone.rows(["photo"]))
        }
    }

    @Test("A reference that another device cleared is cleared here")
    func clearedReference() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO folder (id) VALUES ('f')")
            try await phone.run("INSERT INTO note (id, folder) VALUES ('n', 'f')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET folder = NULL")
            try await settle(phone, laptop)
            #expect(try await laptop.value("SELECT folder FROM note") == nil)
            #expect(try await laptop.value("SELECT count(*) FROM note") == "1")
        }
    }
}
