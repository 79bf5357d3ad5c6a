import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Synchronization
import Testing

@Suite("Rows are shared with their trees", .timeLimit(.minutes(10)))
struct SharingTests {
    static var configuration: CloudStore.Configuration {
        var configuration = Device.configuration
        configuration.includesSharedRows = true
        return configuration
    }

    /// The events of a store.
    final class Events: Sendable {
        private let names = Mutex<[String]>([])

        func add(_ event: StoreEvent) {
            switch event {
            case .shareEnded: names.withLock { $0.append("shareEnded") }
            case .editsRefused(let table, let key):
                names.withLock { $0.append("editsRefused \(table) \(key)") }
            default: break
            }
        }

        var all: [String] { names.withLock(\.self) }
    }

    /// Ada, who shares, Bob, who may write, and Cleo, who may read.
    struct Friends: Sendable {
        var cloud: Cloud
        var (ada, bob, cleo): (Device, Device, Device)
        var users: [TestCloud.User]
        var events = Events()

        init(
            _ cloud: Cloud,
            tables: [SyncedTable] = Device.notes,
            schema: String = Device.schema
        ) async throws {
            self.cloud = cloud
            let users = [
                try await cloud.addUser("Ada"), try await cloud.addUser("Bob"),
                try await cloud.addUser("Cleo"),
            ]
            self.users = users
            var configuration = SharingTests.configuration
            let events = events
            configuration.onEvent = { events.add($0) }
            func device(
                _ user: Int,
                _ configuration: CloudStore.Configuration
            ) async throws -> Device {
                try await Device(
                    cloud,
                    users[user],
                    tables: tables,
                    schema: schema,
                    configuration: configuration
                )
            }
            ada = try await device(0, SharingTests.configuration)
            bob = try await device(1, configuration)
            cleo = try await device(2, configuration)
        }

        /// Opens another device of one of the friends, by number.
        func device(of user: Int, schema: String = Device.schema) async throws -> Device {
            try await Device(
                cloud,
                users[user],
                schema: schema,
                configuration: SharingTests.configuration
            )
        }

        /// Fills Ada's database: a folder with a folder and a note in it, and an unshared note beside it.
        func fill() async throws {
            try await ada.run(
                """
                INSERT INTO folder VALUES ('trip', 'Trip', NULL), ('sub', 'Sub', 'trip');
                INSERT INTO note (id, title, folder) VALUES ('n', 'Tent', 'sub'), ('x', 'Mine', NULL);
                """
            )
            try await ada.store.sync()
        }

        /// Shares a folder with Bob and Cleo, with their permissions.
        @discardableResult
        func share(
            _ folder: String = "trip",
            bob: CKShare.ParticipantPermission? = .readWrite,
            cleo: CKShare.ParticipantPermission? = .readOnly
        ) async throws -> CKShare {
            var invited: [CKShare.Participant] = []
            for (user, permission) in zip(users.dropFirst(), [bob, cleo]) {
                guard let permission else { continue }
                let participant = try await ada.container.shareParticipant(
                    forUserRecordID: CKRecord.ID(recordName: user.recordName)
                )
                participant.permission = permission
                invited.append(participant)
            }
            let participants = invited
            return try await ada.store.share(
                folder,
                in: "folder",
                ifIncomplete: .shareOthers
            ) { share in
                for other in share.participants where other.role != .owner {
                    share.removeParticipant(other)
                }
                for participant in participants { share.addParticipant(participant) }
            }
        }

        func accept(_ share: CKShare, _ devices: Device...) async throws {
            for device in devices {
                let url = try #require(share.url)
                try await device.store.accept(device.container.shareMetadata(for: url))
            }
        }

        /// Shares the folder, and accepts the share for both.
        func begin() async throws {
            try await fill()
            try await accept(share(), bob, cleo)
        }
    }

    private func withFriends(_ body: @Sendable (Friends) async throws -> Void) async throws {
        try await CloudFixture.inProcess.run { cloud in try await body(Friends(cloud)) }
    }

    private static let ids = "SELECT group_concat(id) FROM (SELECT id FROM note ORDER BY id)"

    /// Returns the message of the error that a write must cause.
    private func refusal(_ device: Device, _ sql: String) async throws -> String {
        let error = try await #require(throws: DatabaseError.self) { try await device.run(sql) }
        #expect(error.resultCode == .SQLITE_CONSTRAINT)
        return error.message ?? ""
    }

    @Test("A row is shared with its tree, and edits and new rows go both ways")
    func bothWays() async throws {
        try await withFriends { friends in
            let (ada, bob, cleo) = (friends.ada, friends.bob, friends.cleo)
            try await friends.begin()
            #expect(try await bob.value(Self.ids) == "n")
            #expect(try await bob.value("SELECT group_concat(id) FROM folder") == "sub,trip")
            try await bob.run("UPDATE note SET title = 'Big tent' WHERE id = 'n'")
            try await bob.run("INSERT INTO note (id, title, folder) VALUES ('m', 'Rope', 'sub')")
            try await bob.run("INSERT INTO note (id, title) VALUES ('b', 'Only Bob''s')")
            try await settle(bob, ada, cleo)
            #expect(try await ada.value(Self.ids) == "m,n,x")
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'n'") == "Big tent")
            #expect(try await cleo.value(Self.ids) == "m,n")
            let record = try await ada.cloud.record(for: Device.id("note:m"))
            #expect(record.parent?.recordID.recordName == "folder:sub")
            // A tree that moves into the shared one, children first.
            try await ada.run("INSERT INTO folder VALUES ('new', 'New', NULL)")
            try await ada.run("INSERT INTO note (id, title, folder) VALUES ('o', 'Map', 'new')")
            try await ada.store.sync()
            try await ada.run("UPDATE folder SET parent = 'sub' WHERE id = 'new'")
            try await settle(ada, bob, cleo)
            #expect(try await bob.value(Self.ids) == "b,m,n,o")
            try await bob.run("DELETE FROM folder WHERE id = 'new'")
            try await settle(bob, ada, cleo)
            #expect(try await ada.value("SELECT count(*) FROM folder") == "2")
            for device in [ada, bob, cleo] {
                #expect(try await device.store.verify().differences.isEmpty)
                try await device.store.settled()
            }
        }
    }

    @Test("What may only be read is refused at the write, raw SQL too, and the owner's edits come")
    func readOnly() async throws {
        try await withFriends { friends in
            let (ada, cleo) = (friends.ada, friends.cleo)
            try await friends.begin()
            for sql in [
                "UPDATE note SET title = 'No' WHERE id = 'n'", "DELETE FROM note WHERE id = 'n'",
                "DELETE FROM folder WHERE id = 'sub'",
            ] {
                let message = try await refusal(cleo, sql)
                #expect(message.contains(sql.contains("note") ? "'note'" : "'folder'"))
                #expect(message.contains("read-only; ask the owner"))
            }
            let message = try await refusal(
                cleo,
                "INSERT INTO note (id, folder) VALUES ('c', 'trip')"
            )
            #expect(message.contains("'note' cannot be below a row of the table 'folder'"))
            #expect(try await !cleo.store.canWrite("n", in: "note"))
            #expect(try await friends.bob.store.canWrite("n", in: "note"))
            try await cleo.run("UPDATE note SET draft = 'local only' WHERE id = 'n'")
            try await cleo.run("INSERT INTO note (id, title) VALUES ('c', 'Cleo''s own')")
            try await ada.run("UPDATE note SET title = 'Hut' WHERE id = 'n'")
            try await settle(ada, cleo)
            #expect(try await cleo.value("SELECT title FROM note WHERE id = 'n'") == "Hut")
            // Rows that a deleted row cascades to are deleted here too, even if they are read-only.
            try await ada.run("DELETE FROM folder WHERE id = 'trip'")
            try await settle(ada, cleo)
            #expect(try await cleo.value("SELECT count(*) FROM folder") == "0")
            try await cleo.store.settled()
        }
    }

    @Test("A permission that changes is followed; an edit that comes too late is in the journal")
    func permission() async throws {
        try await withFriends { friends in
            let (ada, cleo) = (friends.ada, friends.cleo)
            try await friends.begin()
            try await friends.share(cleo: .readWrite)
            try await cleo.store.sync()
            try await cleo.run("UPDATE note SET title = 'Cleo''s' WHERE id = 'n'")
            try await settle(cleo, ada)
            #expect(try await ada.value("SELECT title FROM note WHERE id = 'n'") == "Cleo's")
            try await friends.share(cleo: .readOnly)
            try await cleo.run("UPDATE note SET title = 'Late' WHERE id = 'n'")
            try await cleo.run("INSERT INTO note (id, folder) VALUES ('late', 'sub')")
            try await settle(cleo, ada)
            #expect(try await cleo.value("SELECT title FROM note WHERE id = 'n'") == "Cleo's")
            #expect(try await cleo.value(Self.ids) == "n")
            let journal = try await cleo.store.journal()
            #expect(journal.map(\.rule) == ["access", "access"])
            #expect(journal.first?.lost == ["title": .text("Late")])
            #expect(
                Set(friends.events.all) == ["editsRefused note n", "editsRefused note late"]
            )
            _ = try await refusal(cleo, "UPDATE note SET title = 'Again' WHERE id = 'n'")
            try await cleo.store.settled()
        }
    }

    @Test("A removed participant loses the rows; edits that were not sent are in the journal")
    func revoked() async throws {
        try await withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.begin()
            try await bob.run("INSERT INTO note (id, title) VALUES ('b', 'Bob''s')")
            try await bob.store.sync()
            try await bob.run("UPDATE note SET title = 'Unsent' WHERE id = 'n'")
            try await friends.share(bob: nil)
            try await settle(bob, ada)
            #expect(try await bob.value(Self.ids) == "b")
            #expect(try await bob.value("SELECT count(*) FROM folder") == "0")
            let journal = try await bob.store.journal()
            #expect(journal.map(\.lost) == [["title": .text("Unsent")]])
            #expect(friends.events.all == ["shareEnded"])
            #expect(try await ada.value(Self.ids) == "n,x")
            try await bob.store.settled()
            // Accepted again.
            try await friends.accept(friends.share(), bob)
            #expect(try await bob.value(Self.ids) == "b,n")
        }
    }

    @Test("A participant who leaves a share keeps nothing of it, and the owner keeps everything")
    func leave() async throws {
        try await withFriends { friends in
            let (ada, bob, cleo) = (friends.ada, friends.bob, friends.cleo)
            try await friends.begin()
            try await bob.store.leave("trip", in: "folder")
            #expect(try await bob.rows().isEmpty)
            await #expect(throws: CloudStoreError.self) {
                try await bob.store.leave("trip", in: "folder")
            }
            try await ada.store.unshare("trip", in: "folder")
            try await settle(ada, cleo)
            #expect(try await cleo.rows().isEmpty)
            #expect(try await ada.rows().count == 4)
            #expect(try await ada.store.share(of: "trip", in: "folder") == nil)
            try await ada.store.settled()
        }
    }

    @Test("Leaving what the owner has stopped to share takes the rows away, as leaving does")
    func leaveLate() async throws {
        try await withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.begin()
            try await ada.store.unshare("trip", in: "folder")
            #expect(try await !bob.rows().isEmpty)
            try await bob.store.leave("trip", in: "folder")
            #expect(try await bob.rows().isEmpty)
            #expect(try await ada.rows().count == 4)
        }
    }

    @Test("Leaving a share that one was taken out of meanwhile takes its rows away, and no others")
    func leaveOfOneTakenOut() async throws {
        try await withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.begin()
            try await ada.run("INSERT INTO folder VALUES ('work', 'Work', NULL)")
            try await friends.accept(friends.share("work", cleo: nil), bob)
            try await friends.share("trip", bob: nil)
            #expect(try await bob.value(Self.ids) == "n")
            try await bob.store.leave("trip", in: "folder")
            #expect(try await bob.value(Self.ids) == nil)
            #expect(try await bob.value("SELECT group_concat(id) FROM folder") == "work")
            try await bob.store.settled()
        }
    }

    @Test("Two shares of one zone come and go each by itself")
    func twoShares() async throws {
        try await withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await friends.begin()
            try await ada.run("INSERT INTO folder VALUES ('work', 'Work', NULL)")
            try await ada.run("INSERT INTO note (id, folder) VALUES ('w', 'work')")
            try await ada.store.sync()
            let second = try await friends.share("work", bob: .readOnly, cleo: nil)
            // The tree is older than the changes fetched after the second share is accepted.
            try await bob.store.sync()
            try await friends.accept(second, bob)
            #expect(try await bob.value(Self.ids) == "n,w")
            #expect(try await !bob.store.canWrite("w", in: "note"))
            #expect(try await bob.store.canWrite("n", in: "note"))
            try await friends.share("work", bob: nil, cleo: nil)
            try await bob.store.sync()
            #expect(try await bob.value(Self.ids) == "n")
            #expect(try await bob.value("SELECT count(*) FROM folder") == "2")
        }
    }

    @Test("What its owner takes out of a shared tree leaves those who take part, with all below it")
    func takenOut() async throws {
        try await withFriends { friends in
            let (ada, bob, cleo) = (friends.ada, friends.bob, friends.cleo)
            try await friends.begin()
            try await ada.run("UPDATE folder SET parent = NULL WHERE id = 'sub'")
            try await settle(ada, bob, cleo)
            for device in [bob, cleo] {
                #expect(try await device.value("SELECT group_concat(id) FROM folder") == "trip")
                #expect(try await device.value("SELECT count(*) FROM note") == "0")
                #expect(try await device.store.verify().differences.isEmpty)
            }
            #expect(try await ada.value(Self.ids) == "n,x")
            try await ada.run("UPDATE folder SET parent = 'trip' WHERE id = 'sub'")
            try await settle(ada, bob, cleo)
            #expect(try await bob.value(Self.ids) == "n")
        }
    }

    @Test("Rows of two users do not refer to each other, and a key that both use is quarantined")
    func zonesApart() async throws {
        try await withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("INSERT INTO folder VALUES ('own', 'Bob''s', NULL)")
            try await bob.run("INSERT INTO note (id, title) VALUES ('n', 'Bob''s n')")
            try await bob.store.sync()
            try await friends.begin()
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'n'") == "Bob's n")
            let reasons = try await bob.store.status.quarantined.map(\.reason)
            #expect(reasons.count == 1 && reasons[0].contains("a row of your own has its key"))
            for sql in [
                "UPDATE note SET folder = 'trip' WHERE id = 'n'",
                "UPDATE folder SET parent = 'own' WHERE id = 'sub'",
            ] {
                #expect(try await refusal(bob, sql).contains("that another user owns"))
            }
            // Nor does one replace the key of the other before its deletion is synced.
            for sql in [
                "DELETE FROM note WHERE id = 'n'; INSERT INTO note (id, folder) VALUES ('n', 'sub')",
                "DELETE FROM folder WHERE id = 'sub'; INSERT INTO folder (id) VALUES ('sub')",
            ] {
                #expect(try await refusal(bob, sql).contains("cannot have the key"))
            }
            try await ada.run("UPDATE note SET title = 'Tarp' WHERE id = 'n'")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'n'") == "Bob's n")
            try await bob.run("DELETE FROM note WHERE id = 'n'")
            try await settle(bob)
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'n'") == "Tarp")
            try await bob.store.settled()
        }
    }

    @Test("A user's other device has the shared rows too, and a store opened again goes on")
    func otherDevice() async throws {
        try await withFriends { friends in
            let ada = friends.ada
            try await friends.begin()
            let laptop = try await friends.device(of: 1)
            try await laptop.store.sync()
            #expect(try await laptop.rows() == friends.bob.rows())
            await laptop.store.stop()
            try await laptop.run("INSERT INTO note (id, folder) VALUES ('late', 'trip')")
            let again = try await Device(
                friends.cloud,
                friends.users[1],
                database: laptop.database,
                configuration: Self.configuration
            )
            try await settle(again, ada)
            #expect(try await ada.value(Self.ids) == "late,n,x")
            try await again.store.refetchEverything()
            try await settle(again)
            #expect(try await again.rows().count == 4)
            #expect(try await again.store.recordID(of: "late", in: "note").zoneID != Device.zoneID)
        }
    }

    @Test("What cannot be shared is an error that says why")
    func refusedShares() async throws {
        let schema =
            Device.schema + "CREATE TABLE line (id TEXT PRIMARY KEY NOT NULL, "
            + "note TEXT NOT NULL REFERENCES note (id))"
        try await CloudFixture.inProcess.run { cloud in
            let phone = try await Device(
                cloud,
                cloud.addUser(),
                tables: Device.notes + [.table("line")],
                schema: schema
            )
            try await phone.run("INSERT INTO folder (id) VALUES ('f')")
            try await phone.run("INSERT INTO note (id, folder) VALUES ('n', 'f')")
            try await phone.run("INSERT INTO line VALUES ('l', 'n')")
            func message(_ key: String, _ table: String) async throws -> String {
                let error = await #expect(throws: CloudStoreError.self) {
                    try await phone.store.share(key, in: table)
                }
                return error?.message ?? ""
            }
            #expect(try await message("l", "line").contains("cannot be the root of a share"))
            try await phone.store.share("f", in: "folder")
            for call: @Sendable () async throws -> Void in [
                { try await phone.store.share("none", in: "note") },
                { _ = try await phone.store.share(of: "none", in: "note") },
                { try await phone.store.unshare("none", in: "note") },
                { try await phone.store.leave("none", in: "note") },
                { _ = try await phone.store.record(of: "none", in: "note") },
            ] {
                let error = await #expect(throws: CloudStoreError.self) { try await call() }
                #expect(error?.code == .noSuchRow)
            }
            #expect(try await message("n", "note").contains("shared with the row above it"))
        }
    }

    @Test("A file of the version before sharing is brought up to this one, and loses nothing")
    func upgrade() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user)
            try await phone.run("INSERT INTO note (id, title) VALUES ('a', 'A'), ('b', 'B')")
            try await phone.store.sync()
            try await phone.run("UPDATE note SET title = 'unsent' WHERE id = 'a'")
            await phone.store.stop()
            try await OldFile.turn(phone, into: 1)
            try await phone.run(
                """
                CREATE TRIGGER shout AFTER UPDATE OF title ON note
                WHEN (SELECT applying FROM cloudkit_control) = 0
                BEGIN UPDATE note SET body = 'shouted' WHERE id = NEW.id; END
                """
            )
            let again = try await Device(cloud, user, database: phone.database)
            let summary = try await again.store.sync()
            #expect((summary.saved, summary.received.count) == (1, 0))
            let names = try await again.database.read { database in
                try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_master WHERE name GLOB 'cloudkit*'"
                )
            }
            #expect(names == [])
            // The app's trigger queries the table under its new name.
            try await again.run("UPDATE note SET title = 'now' WHERE id = 'a'")
            #expect(try await again.value("SELECT body FROM note WHERE id = 'a'") == "shouted")
        }
    }
}
