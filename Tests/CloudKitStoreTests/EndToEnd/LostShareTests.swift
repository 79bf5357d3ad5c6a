import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("A share is lost with the top that another device deleted", .timeLimit(.minutes(5)))
struct LostShareTests {
    typealias Friends = SharingTests.Friends

    @Test(
        "A row that an edit brings back without its share is in the journal of the device that deleted it",
        arguments: ["DELETE FROM folder", "UPDATE folder SET id = 'other'"]
    )
    func lostShare(_ deletion: String) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            let ada = friends.ada
            let phone = try await friends.device(of: 0)
            try await ada.run("INSERT INTO folder VALUES ('trip', 'Trip', NULL)")
            try await settle(ada, phone)
            // Whether the phone knows the share makes no difference.
            try await friends.accept(friends.share(cleo: nil), friends.bob)
            try await phone.run("UPDATE folder SET name = 'Phone''s'")
            try await ada.run(deletion)
            try await settle(ada, phone, friends.bob)
            let row = "SELECT name FROM folder WHERE id = 'trip'"
            for device in [ada, phone] { #expect(try await device.value(row) == "Phone's") }
            #expect(try await friends.bob.value(row) == nil)
            let journal = try await ada.store.journal(of: "folder", key: "trip")
            #expect(journal.map(\.rule) == ["share"])
            #expect(journal.first?.kept?["name"] == .text("Phone's"))
            #expect(try await phone.store.journal() == [])
            let entry = try #require(journal.first)
            let error = try await #require(throws: CloudStoreError.self) {
                try await ada.store.restore(entry)
            }
            #expect(error.message.contains("share(_:in:)"))
            #expect(try await ada.value(row) == "Phone's")
        }
    }

    @Test("A row that is new under the key of a deleted top has lost no share")
    func newRowOfTop() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            let ada = friends.ada
            let phone = try await friends.device(of: 0)
            try await ada.run("INSERT INTO folder VALUES ('trip', 'Trip', NULL)")
            try await friends.accept(friends.share(cleo: nil), friends.bob)
            try await ada.run("DELETE FROM folder")
            try await settle(ada, phone)
            try await phone.run("INSERT INTO folder VALUES ('trip', 'New', NULL)")
            try await settle(phone, ada)
            #expect(try await ada.value("SELECT name FROM folder") == "New")
            #expect(try await ada.store.journal() == [])
        }
    }

    @Test("The share of a top that is deleted elsewhere has ended, and unshare says so")
    func unshareDeleted() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud)
            let ada = friends.ada
            let phone = try await friends.device(of: 0)
            try await ada.run("INSERT INTO folder VALUES ('trip', 'Trip', NULL)")
            try await friends.accept(friends.share(cleo: nil), friends.bob)
            try await settle(phone)
            try await phone.run("DELETE FROM folder")
            try await phone.store.sync()
            for remedy in ["was deleted on another device", "has no row 'trip'"] {
                let error = await #expect(throws: CloudStoreError.self) {
                    try await ada.store.unshare("trip", in: "folder")
                }
                #expect(error?.code == .noSuchRow)
                #expect(error?.message.contains(remedy) == true)
                try await ada.store.sync()
            }
            #expect(try await ada.store.verify().differences == [])
        }
    }
}
