import CloudKit
import CloudKitStore
import CloudKitTesting
import Support
import Testing

@Suite(
    "Two owners give the same key to rows that they share with a member",
    .timeLimit(.minutes(5))
)
struct TwoOwnerTests {
    /// The owners, the first by name first, with the links to what they share, and the member's devices.
    private struct People: Sendable {
        var friends: SharingTests.Friends
        var owners: [Device]
        var links: [CKShare.Metadata]
        var phone: Device
        var bob: Device { friends.bob }
    }

    /// Runs a test in which both owners share a folder, with their rows.
    private func withOwners(
        _ rows: [(sql: String, top: String)],
        bob own: String = "",
        _ body: @Sendable (People) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await SharingTests.Friends(cloud, schema: TakenKeyTests.schema)
            let phone = try await TakenKeyTests.phone(friends)
            try await friends.bob.run(own)
            try await settle(friends.bob, phone)
            let owners = zip([friends.ada, friends.cleo], [friends.users[0], friends.users[2]])
                .sorted { $0.1.recordName < $1.1.recordName }.map(\.0)
            var links: [CKShare.Metadata] = []
            for (owner, row) in zip(owners, rows) {
                try await owner.run(row.sql)
                try await owner.store.sync()
                let share = try await owner.store.share(row.top, in: "folder") {
                    $0.publicPermission = .readWrite
                }
                let url = try #require(share.url)
                links.append(try await friends.bob.container.shareMetadata(for: url))
            }
            try await body(
                People(friends: friends, owners: owners, links: links, phone: phone)
            )
        }
    }

    @Test("A row that keeps its key, because the other cannot show, keeps its unsent edits")
    func unsentEdits() async throws {
        let first = """
            INSERT INTO folder VALUES ('top', 'First', NULL), ('food', 'First', 'top');
            INSERT INTO note (id, folder) VALUES ('one', 'food')
            """
        let second = """
            INSERT INTO folder VALUES ('food', 'Second', NULL);
            INSERT INTO note (id, folder) VALUES ('two', 'food')
            """
        try await withOwners(
            [(first, "top"), (second, "food")],
            bob: "INSERT INTO folder VALUES ('top', 'Bob''s', NULL)"
        ) { people in
            let (bob, phone) = (people.bob, people.phone)
            try await bob.store.accept(people.links[1])
            try await phone.store.sync()
            try await bob.run(
                """
                UPDATE folder SET name = 'Mine' WHERE id = 'food';
                UPDATE note SET title = 'Mine' WHERE id = 'two';
                INSERT INTO note (id, title, folder) VALUES ('new', 'Mine', 'food');
                """
            )
            // The first's folder arrives before the one above it, whose key is taken.
            try await bob.store.accept(people.links[0])
            #expect(try await bob.store.journal().isEmpty)
            #expect(people.friends.events.all == [])
            try await settle(bob, phone, people.owners[1])
            try await TakenKeyTests.expectSame(
                bob,
                phone,
                shown: "food ,new food,top ,two food"
            )
            #expect(
                try await people.owners[1].value(
                    "SELECT group_concat(name) || (SELECT group_concat(title) FROM note) FROM folder"
                ) == "MineMine,Mine"
            )
            for device in [bob, phone] {
                #expect(try await device.store.status.waitingToSend == 0)
                #expect(try await device.store.journal().isEmpty)
            }
        }
    }

    @Test("What was lost with a row whose share ended is not restored into the other owner's row")
    func restoring() async throws {
        let rows = ["First", "Second"].map {
            (sql: "INSERT INTO folder VALUES ('food', '\($0)', NULL)", top: "food")
        }
        try await withOwners(rows) { people in
            let (bob, phone) = (people.bob, people.phone)
            try await bob.store.accept(people.links[1])
            try await phone.store.sync()
            try await phone.run("UPDATE folder SET name = 'Edited'")
            try await bob.store.accept(people.links[0])
            try await settle(bob, phone)
            var entry = try #require(try await phone.store.journal().first)
            try await people.owners[1].store.unshare("food", in: "folder")
            try await settle(bob, phone)
            #expect(try await phone.store.status.quarantined == [])
            let lost = entry
            let error = await #expect(throws: CloudStoreError.self) {
                try await phone.store.restore(lost)
            }
            #expect(error?.message.contains("set the entry's key") == true)
            #expect(try await phone.value("SELECT name FROM folder") == "First")
            entry.key = "copy"
            try await phone.store.restore(entry)
            try await settle(phone, bob)
            try await TakenKeyTests.expectSame(bob, phone, shown: "copy ,food ")
        }
    }
}
