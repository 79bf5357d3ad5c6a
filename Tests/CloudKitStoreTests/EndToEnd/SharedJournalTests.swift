import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Testing

@Suite("A journal that all devices have", .timeLimit(.minutes(5)))
struct SharedJournalTests {
    private static var configuration: CloudStore.Configuration {
        var configuration = Device.configuration
        configuration.journal = .shared
        return configuration
    }

    /// Runs a test with two devices: the phone merged, and the laptop's title lost.
    private func withLoss(
        _ body:
            @Sendable (_ phone: Device, _ laptop: Device, _ cloud: CKDatabase) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let tables: [SyncedTable] = [.table("folder"), .table("note", rule: .client)]
            func device() async throws -> Device {
                try await Device(
                    cloud,
                    user,
                    tables: tables,
                    configuration: Self.configuration
                )
            }
            let (phone, laptop) = (try await device(), try await device())
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'Tent')")
            try await settle(phone, laptop)
            try await laptop.run("UPDATE note SET title = 'Laptop'")
            try await phone.run("UPDATE note SET title = 'Phone'")
            try await laptop.store.sync()
            try await settle(phone, laptop)
            try await body(phone, laptop, cloud.database(of: user))
        }
    }

    @Test("What lost on the device that merged is known to the one whose edit it was")
    func travels() async throws {
        try await withLoss { phone, laptop, _ in
            let here = try #require(try await phone.store.journal(of: "note").first)
            let there = try #require(try await laptop.store.journal(of: "note").first)
            #expect(here.lost == ["title": .text("Laptop")])
            #expect(here.side == .remote)
            #expect(here.device == nil)
            #expect(there.lost == here.lost && there.kept == here.kept)
            #expect(there.device != nil)
            try await laptop.store.restore(there)
            try await settle(laptop, phone)
            #expect(try await phone.value("SELECT title FROM note") == "Laptop")
            for device in [phone, laptop] {
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("The app hears nothing of the journal's rows, and the service sees no value that lost")
    func isPrivate() async throws {
        try await withLoss { phone, laptop, cloud in
            try await phone.run("UPDATE note SET title = 'Phone 2'")
            try await laptop.run("UPDATE note SET title = 'Laptop 2'")
            try await phone.store.sync()
            let received =
                try await laptop.store.sync().received
                + phone.store.sync().received
            #expect(Set(received.map(\.table)) == ["note"])
            let page = try await cloud.recordZoneChanges(inZoneWith: Device.zoneID, since: nil)
            let records = try page.modificationResultsByID.values.map { try $0.get().record }
                .filter { $0.recordType == "StoreJournal" }
            #expect(records.count == 2)
            for record in records {
                #expect(!record.allKeys().contains("lost"))
                #expect(record.encryptedValues["lost"] as Data? != nil)
            }
        }
    }

    @Test("What one device removes from the journal is removed from all")
    func trimming() async throws {
        try await withLoss { phone, laptop, _ in
            try await phone.store.trimJournal(before: .now + 60)
            try await settle(phone, laptop)
            #expect(try await phone.store.journal() == [])
            #expect(try await laptop.store.journal() == [])
            #expect(try await laptop.store.verify().differences == [])
        }
    }

    @Test("What is too old or too much when one device starts goes from the journal of all")
    func limits() async throws {
        try await withLoss { phone, laptop, _ in
            for number in 2...3 {
                try await laptop.run("UPDATE note SET title = 'Laptop \(number)'")
                try await phone.run("UPDATE note SET title = 'Phone \(number)'")
                try await laptop.store.sync()
                try await settle(phone, laptop)
            }
            #expect(try await laptop.store.journal().count == 3)
            await phone.store.stop()
            func start(_ change: (inout CloudStore.Configuration) -> Void) async throws {
                var configuration = Self.configuration
                change(&configuration)
                let store = try CloudStore(
                    database: phone.database,
                    container: phone.container,
                    tables: [.table("folder"), .table("note", rule: .client)],
                    configuration: configuration
                )
                try await store.start()
                try await store.sync()
                #expect(try await store.verify().differences == [])
                await store.stop()
                try await laptop.store.sync()
            }
            try await start { $0.journalLimit = 2 }
            let lost = try await laptop.store.journal().map { $0.lost["title"] }
            #expect(lost == [.text("Laptop 2"), .text("Laptop 3")])
            try await phone.run("UPDATE grdb_cloudkit_lost SET time = time - 100 * 86400000000")
            try await start { $0.journalAge = nil }
            #expect(try await laptop.store.journal().count == 2)
            try await start { _ in }
            #expect(try await laptop.store.journal() == [])
            #expect(try await laptop.store.verify().differences == [])
        }
    }

    @Test("A deletion that an edit overruled lost nothing, and has no entry")
    func nothingLost() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'Tent')")
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM note")
            try await laptop.run("UPDATE note SET title = 'Tent 2'")
            try await settle(phone, laptop)
            #expect(try await phone.value("SELECT title FROM note") == "Tent 2")
            #expect(try await phone.store.journal() == [])
            #expect(try await laptop.store.journal() == [])
        }
    }
}
