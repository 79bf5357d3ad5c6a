import CloudKit
import CloudKitStore
import CloudKitTesting
import Support
import Testing

@Suite("Lost edits of other users' rows are restored where they belong", .timeLimit(.minutes(5)))
struct RestoreTests {
    typealias Friends = SharingTests.Friends

    /// Runs a test with Bob's unsent edit of a note that went out of his sight, and its entry.
    private func withHiddenNote(
        schema: String = Device.schema,
        _ body: @Sendable (Friends, JournalEntry) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: schema)
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("INSERT INTO folder (id, name) VALUES ('trip', 'Trip')")
            try await ada.run(
                "INSERT INTO note (id, title, body, folder) VALUES ('n', 'Tent', 'Red', 'trip')"
            )
            try await ada.store.sync()
            try await friends.accept(friends.share(cleo: nil), bob)
            try await bob.run("UPDATE note SET title = 'Edited'")
            try await ada.run("UPDATE note SET folder = NULL")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT count(*) FROM note") == "0")
            let entry = try #require(try await bob.store.journal().last)
            #expect(entry.rule == "access" && entry.lost == ["title": .text("Edited")])
            try await body(friends, entry)
        }
    }

    private func refusal(_ device: Device, _ entry: JournalEntry) async -> String {
        let error = await #expect(throws: CloudStoreError.self) {
            try await device.store.restore(entry)
        }
        #expect(error?.code == .noSuchRow)
        return error?.message ?? ""
    }

    @Test("An edit of a row that is out of sight waits for it, and does not keep it out")
    func outOfSight() async throws {
        try await withHiddenNote { friends, entry in
            let (ada, bob) = (friends.ada, friends.bob)
            #expect(await refusal(bob, entry).contains("set the entry's key"))
            #expect(try await bob.value("SELECT count(*) FROM note") == "0")
            try await ada.run("UPDATE note SET folder = 'trip'")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT title FROM note") == "Tent")
            try await bob.store.restore(entry)
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT id || title FROM note") == "nEdited")
            #expect(try await bob.store.status.isSettled)
        }
    }

    @Test("An edit of a row that is out of sight becomes a row of its own under another key")
    func ownRow() async throws {
        try await withHiddenNote { friends, entry in
            let (ada, bob) = (friends.ada, friends.bob)
            var copy = entry
            copy.key = "copy"
            try await bob.store.restore(copy)
            try await ada.run("UPDATE note SET folder = 'trip'")
            try await settle(ada, bob)
            let notes = "SELECT group_concat(id || title) FROM (SELECT * FROM note ORDER BY id)"
            #expect(try await bob.value(notes) == "copyEdited,nTent")
            #expect(try await ada.value(notes) == "nTent")
            #expect(try await bob.store.status.isSettled)
        }
    }

    @Test("The refusal names the columns that a row of its own needs besides")
    func missingColumns() async throws {
        let schema = Device.schema.replacing("body TEXT,", with: "body TEXT NOT NULL,")
        try await withHiddenNote(schema: schema) { friends, entry in
            let message = await refusal(friends.bob, entry)
            #expect(message.contains("values for 'body', which the entry does not have"))
            #expect(!message.contains("'title'") && !message.contains("'count'"))
            // What it says can be done.
            try await friends.bob.run(
                "INSERT INTO note (id, title, body) VALUES ('copy', 'Edited', 'Mine')"
            )
        }
    }

    /// Runs a test with the entries of what Bob wrote below a folder that went out of his sight before
    /// it was sent.
    private func withHiddenFolder(
        schema: String = Device.schema,
        _ body: @Sendable (Friends, [String: JournalEntry]) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: schema)
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.begin()
            try await bob.run(
                """
                INSERT INTO note (id, title, folder) VALUES ('new', 'Rope', 'sub');
                DELETE FROM note WHERE id = 'n';
                """
            )
            try await ada.run("UPDATE folder SET parent = NULL WHERE id = 'sub'")
            try await settle(ada, bob)
            let journal = try await bob.store.journal()
            #expect(journal.map(\.key).sorted() == ["n", "new"])
            try await body(
                friends,
                Dictionary(uniqueKeysWithValues: journal.map { ($0.key, $0) })
            )
        }
    }

    @Test("A row that would refer to one that is not here says to which, and how to restore it")
    func missingTarget() async throws {
        try await withHiddenFolder { friends, entries in
            let (ada, bob) = (friends.ada, friends.bob)
            var entry = try #require(entries["new"])
            entry.key = "copy"
            let message = await refusal(bob, entry)
            for part in [
                "'folder' to the row 'sub' of the table 'folder'",
                "insert or restore that row first",
                "lost[\"folder\"] to .null, or to a row that is here",
            ] {
                #expect(message.contains(part), "\(message)")
            }
            // What it says can be done: without the reference, or to another row.
            for (key, folder) in [("copy", StoreValue.null), ("low", .reference("folder:trip"))] {
                entry.key = key
                entry.lost["folder"] = folder
                try await bob.store.restore(entry)
            }
            try await settle(bob, ada)
            let notes = "SELECT group_concat(id || coalesce(folder, '')) FROM "
            #expect(
                try await bob.value(notes + "(SELECT * FROM note ORDER BY id)") == "copy,lowtrip"
            )
            #expect(try await ada.value(notes + "note WHERE title = 'Rope'") == "lowtrip")
            try await bob.store.settled()
        }
    }

    @Test("A column that needs a row says so without NULL, and an entry of a lost parent as well")
    func missingParent() async throws {
        let schema = Device.schema.replacing(
            "folder TEXT REFERENCES folder (id) ON DELETE SET NULL",
            with: "folder TEXT NOT NULL REFERENCES folder (id) ON DELETE CASCADE"
        )
        try await withTwoDevices(schema: schema) { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO folder (id) VALUES ('f'); INSERT INTO note (id, folder) VALUES ('n', 'f')"
            )
            try await settle(phone, laptop)
            try await phone.run("DELETE FROM folder WHERE id = 'f'")
            try await laptop.run("INSERT INTO note (id, folder) VALUES ('late', 'f')")
            try await settle(phone, laptop)
            var journal: [JournalEntry] = []
            for device in [phone, laptop] { journal += try await device.store.journal() }
            let entry = try #require(journal.first { $0.key == "late" && $0.rule == "cascade" })
            let message = await refusal(laptop, entry)
            #expect(message.contains("'folder' to the row 'f' of the table 'folder'"), "\(message)")
            #expect(message.contains("lost[\"folder\"] to a row that is here"))
            try await laptop.run("INSERT INTO folder (id) VALUES ('f')")
            try await laptop.store.restore(entry)
            try await settle(laptop, phone)
            #expect(try await phone.value("SELECT folder FROM note WHERE id = 'late'") == "f")
        }
    }

    @Test("A deletion is restored under its own key, once its row is back")
    func deletion() async throws {
        try await withHiddenFolder { friends, entries in
            let (ada, bob) = (friends.ada, friends.bob)
            let entry = try #require(entries["n"])
            #expect(entry.lost.isEmpty)
            #expect(await refusal(bob, entry).contains("restore the entry once the row is back"))
            var copy = entry
            copy.key = "copy"
            let message = await refusal(bob, copy)
            #expect(message.contains("the deletion of the row 'n'"), "\(message)")
            #expect(message.contains("`kept`"))
            try await ada.run("UPDATE folder SET parent = 'trip' WHERE id = 'sub'")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'n'") == "Tent")
            try await bob.store.restore(entry)
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT count(*) FROM note WHERE id = 'n'") == "0")
        }
    }

    @Test("A new row names the columns for which the entry of an edit has no values")
    func missingValues() async throws {
        let schema = Device.schema.replacing("body TEXT,", with: "body TEXT NOT NULL,")
        try await withHiddenNote(schema: schema) { friends, entry in
            var copy = entry
            copy.key = "copy"
            let message = await refusal(friends.bob, copy)
            #expect(message.contains("has no row 'copy', and a new one needs values for 'body'"))
            #expect(message.contains("add them to the entry's `lost`"))
            copy.lost["body"] = .text("Mine")
            try await friends.bob.store.restore(copy)
            #expect(try await friends.bob.value("SELECT title || body FROM note") == "EditedMine")
        }
    }

    @Test("Entries of a shared journal are not restored into another owner's row either")
    func sharedJournal() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: TakenKeyTests.schema)
            var configuration = SharingTests.configuration
            configuration.journal = .shared
            func device() async throws -> Device {
                try await Device(
                    cloud,
                    friends.users[1],
                    schema: TakenKeyTests.schema,
                    configuration: configuration
                )
            }
            let (phone, tablet) = (try await device(), try await device())
            // The first by name has the key once both are here.
            let owners = zip([friends.ada, friends.cleo], [friends.users[0], friends.users[2]])
                .sorted { $0.1.recordName < $1.1.recordName }.map(\.0)
            var links: [CKShare.Metadata] = []
            for (owner, name) in zip(owners, ["First", "Second"]) {
                try await owner.run("INSERT INTO folder VALUES ('food', '\(name)', NULL)")
                try await owner.store.sync()
                let share = try await owner.store.share("food", in: "folder") {
                    $0.publicPermission = .readWrite
                }
                links.append(try await phone.container.shareMetadata(for: #require(share.url)))
            }
            try await phone.store.accept(links[1])
            try await phone.run("UPDATE folder SET name = 'Edited'")
            try await phone.store.accept(links[0])
            try await settle(phone, tablet)
            try await owners[1].store.unshare("food", in: "folder")
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let entry = try #require(try await device.store.journal().first)
                #expect(entry.lost == ["name": .text("Edited")])
                #expect(await refusal(device, entry).contains("set the entry's key"))
                #expect(try await device.value("SELECT name FROM folder") == "First")
            }
        }
    }

    @Test("A UNIQUE value that another row has is refused with that row, its column and the remedy")
    func takenValue() async throws {
        let schema = Device.schema + "CREATE UNIQUE INDEX folderName ON folder (name);"
        try await withTwoDevices(schema: schema) { phone, laptop, _ in
            try await phone.run("INSERT INTO folder (id, name) VALUES ('f', 'Old')")
            try await settle(phone, laptop)
            try await phone.run("UPDATE folder SET name = 'Earlier' WHERE id = 'f'")
            try await laptop.run("UPDATE folder SET name = 'Later' WHERE id = 'f'")
            try await settle(laptop, phone)
            try await phone.run("INSERT INTO folder (id, name) VALUES ('g', 'Earlier')")
            var entry = try #require(try await phone.store.journal().first)
            #expect(entry.lost == ["name": .text("Earlier")])
            let taken = entry
            let error = await #expect(throws: CloudStoreError.self) {
                try await phone.store.restore(taken)
            }
            #expect(error?.code == .valueTaken)
            for part in [
                "The row 'f' of the table 'folder'",
                "the UNIQUE value of 'name' that the row 'g' has", "set the entry's lost[\"name\"]",
            ] {
                #expect(error?.message.contains(part) == true, "\(String(describing: error))")
            }
            #expect(try await phone.value("SELECT name FROM folder WHERE id = 'f'") == "Later")
            entry.lost["name"] = .text("Other")
            try await phone.store.restore(entry)
            #expect(try await phone.value("SELECT name FROM folder WHERE id = 'f'") == "Other")
        }
    }

    @Test("A deletion that a reference without an action blocks names the row that refers")
    func blockedDeletion() async throws {
        let schema = Device.schema.replacing(
            "folder TEXT REFERENCES folder (id) ON DELETE SET NULL",
            with: "folder TEXT REFERENCES folder (id) ON DELETE SET NULL, "
                + "near TEXT REFERENCES note (id)"
        )
        try await withHiddenFolder(schema: schema) { friends, entries in
            let (ada, bob) = (friends.ada, friends.bob)
            let entry = try #require(entries["n"])
            try await ada.run(
                """
                UPDATE folder SET parent = 'trip' WHERE id = 'sub';
                INSERT INTO note (id, folder, near) VALUES ('m', 'sub', 'n');
                """
            )
            try await settle(ada, bob)
            let error = await #expect(throws: CloudStoreError.self) {
                try await bob.store.restore(entry)
            }
            #expect(error?.code == .stillReferred)
            for part in [
                "The row 'n' of the table 'note' cannot be deleted",
                "the row 'm' of the table 'note' refers in 'near' to it", "delete that row first",
            ] {
                #expect(error?.message.contains(part) == true, "\(String(describing: error))")
            }
            try await bob.run("DELETE FROM note WHERE id = 'm'")
            try await bob.store.restore(entry)
            #expect(try await bob.value("SELECT count(*) FROM note") == "0")
        }
    }
}
