import CloudKitStore
import Foundation
import Support
import Testing

/// A record name that ends with a UUID has another form in the file, see ``StoredName``.
@Suite("Users give the same UUID to their rows", .timeLimit(.minutes(5)))
struct TakenUUIDTests {
    typealias Friends = SharingTests.Friends

    /// The keys of a folder and of what is below it.
    ///
    /// One has the bytes of line breaks.
    private struct Keys: Sendable, CustomTestStringConvertible {
        var isLower: Bool
        var testDescription: String { isLower ? "lower case" : "upper case" }

        var food: String { spelled("0A0A0A0A-0A0A-4A0A-8A0A-0A0A0A0A0A0A") }
        var sub: String { spelled("F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11") }
        var milk: String { spelled("3C5B1E0A-6F2D-4B7C-9E11-2A4D6F8B0C13") }
        var egg: String { spelled("A7D9E3F1-5B2C-4D6E-8F10-1B3D5F7A9C2E") }
        var drinks: String { spelled("5E6F7A8B-9C0D-4E1F-A2B3-C4D5E6F7A8B9") }

        var shared: String {
            """
            INSERT INTO folder VALUES ('\(food)', 'Ada''s', NULL), ('\(sub)', 'Sub', '\(food)');
            INSERT INTO note (id, title, folder)
                VALUES ('\(milk)', 'Milk', '\(food)'), ('\(egg)', 'Egg', '\(sub)');
            """
        }

        private func spelled(_ key: String) -> String { isLower ? key.lowercased() : key }

        static let all = [Keys(isLower: false), Keys(isLower: true)]
    }

    @Test("The rows below one whose key is taken wait, until the key is free", arguments: Keys.all)
    private func waiting(_ keys: Keys) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: TakenKeyTests.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(keys.shared)
            try await ada.store.sync()
            try await bob.run("INSERT INTO folder VALUES ('\(keys.food)', 'Bob''s', NULL)")
            try await bob.store.sync()
            try await friends.accept(friends.share(keys.food, cleo: nil), bob)
            #expect(try await bob.rows().count == 1)
            let status = try await bob.store.status
            #expect(status.waitingForParents == 3 && status.inaccessibleReferenceCount == 0)
            #expect(status.waitingRows.count == 3)
            #expect(status.quarantined.map { $0.reason.contains("leave(_:in:)") } == [true])
            #expect(try await bob.store.verify().hidden.count == 4)

            try await bob.run("DELETE FROM folder")
            try await settle(bob, ada)
            #expect(try await bob.rows() == ada.rows())
            #expect(try await ada.rows().count == 4)
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A share whose root's key is taken is left by that key", arguments: Keys.all)
    private func leaving(_ keys: Keys) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: TakenKeyTests.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(keys.shared)
            try await ada.store.sync()
            try await bob.run("INSERT INTO folder VALUES ('\(keys.food)', 'Bob''s', NULL)")
            try await bob.store.sync()
            try await friends.accept(friends.share(keys.food, cleo: nil), bob)
            try await bob.store.leave(keys.food, in: "folder")
            try await settle(bob, ada)
            #expect(try await bob.value("SELECT group_concat(name) FROM folder") == "Bob's")
            #expect(try await bob.store.status.quarantined == [])
            try await bob.store.settled()
        }
    }

    @Test(
        "A shared row that gave up its key returns when the own row has another",
        arguments: Keys.all
    )
    private func displaced(_ keys: Keys) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: TakenKeyTests.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await TakenKeyTests.phone(friends)
            try await ada.run(keys.shared)
            try await ada.store.sync()
            try await friends.accept(friends.share(keys.food, cleo: nil), bob)
            try await phone.run("INSERT INTO folder VALUES ('\(keys.food)', 'Bob''s', NULL)")
            // The phone has sent its row before it knows the share.
            try await phone.store.sync()
            try await settle(bob, phone)
            for device in [bob, phone] {
                #expect(try await device.rows().count == 1)
                #expect(try await device.store.status.waitingForParents == 3)
            }
            try await phone.run("UPDATE folder SET id = '\(keys.drinks)'")
            try await settle(phone, bob, ada)
            #expect(try await bob.rows() == phone.rows())
            #expect(try await bob.rows().count == 5)
            for device in [ada, bob, phone] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }
}
