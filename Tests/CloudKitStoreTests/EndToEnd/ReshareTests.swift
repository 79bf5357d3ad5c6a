import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("What is shared is what the tree is now", .timeLimit(.minutes(10)))
struct ReshareTests {
    typealias Friends = SharingTests.Friends

    /// The owner's changes to a tree while it is not shared: folders trip, sub in it, deep in that,
    /// a note in each, and a folder and a note beside it.
    enum Change: String, CaseIterable, Sendable {
        case editTop = "UPDATE folder SET name = 'Edited' WHERE id = 'trip'"
        case editChild = "UPDATE folder SET name = 'Edited' WHERE id = 'sub'"
        case editGrandchild = "UPDATE folder SET name = 'Edited' WHERE id = 'deep'"
        case editFirstLeaf = "UPDATE note SET title = 'Edited' WHERE id = 'n1'"
        case editLastLeaf = "UPDATE note SET title = 'Edited' WHERE id = 'n3'"
        case editAll = "UPDATE folder SET name = 'Edited'; UPDATE note SET title = 'Edited'"
        case moveWithin = "UPDATE folder SET parent = 'trip' WHERE id = 'deep'"
        case moveLeafWithin = "UPDATE note SET folder = 'trip' WHERE id = 'n3'"
        case moveOut = "UPDATE folder SET parent = NULL WHERE id = 'sub'"
        case moveIn = "UPDATE folder SET parent = 'deep' WHERE id = 'beside'"
        case moveBetween = """
            UPDATE folder SET parent = 'beside' WHERE id = 'sub';
            UPDATE folder SET name = 'Edited' WHERE id = 'deep'
            """
        case moveOutAndBack = """
            UPDATE folder SET parent = NULL WHERE id = 'sub'; --
            UPDATE note SET title = 'Edited' WHERE id = 'n2'; --
            UPDATE folder SET parent = 'trip' WHERE id = 'sub'
            """
        case insertAgain = """
            DELETE FROM note WHERE id = 'n2';
            INSERT INTO note (id, title, folder) VALUES ('n2', 'Again', 'sub')
            """
        case deleteAndInsertLater = """
            DELETE FROM folder WHERE id = 'deep'; --
            INSERT INTO folder VALUES ('deep', 'Again', 'sub');
            UPDATE note SET folder = 'deep' WHERE id = 'n3'
            """

        /// The statements that are synced together.
        var parts: [String] { rawValue.components(separatedBy: "--") }
    }

    /// Returns the rows of a folder's tree, as the owner has them.
    private static func tree(of folder: String, _ device: Device) async throws -> [String] {
        try await device.database.read { database in
            try String.fetchAll(
                database,
                sql: """
                    WITH RECURSIVE tree (id) AS (
                        SELECT ? UNION SELECT f.id FROM folder f JOIN tree ON f.parent = tree.id
                    )
                    SELECT 'folder ' || id || ' ' || name AS line FROM folder
                        WHERE id IN (SELECT id FROM tree)
                    UNION ALL
                    SELECT 'note ' || id || ' ' || title FROM note
                        WHERE folder IN (SELECT id FROM tree)
                    ORDER BY line
                    """,
                arguments: [folder]
            )
        }
    }

    /// Returns all rows that a device shows.
    private static func all(_ device: Device) async throws -> [String] {
        try await device.database.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT 'folder ' || id || ' ' || name AS line FROM folder
                    UNION ALL SELECT 'note ' || id || ' ' || title FROM note ORDER BY line
                    """
            )
        }
    }

    private static func withFriends(
        _ body: @Sendable (Friends) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in try await body(Friends(cloud)) }
    }

    private static func fill(_ device: Device) async throws {
        try await device.run(
            """
            INSERT INTO folder VALUES ('trip', 'Trip', NULL), ('sub', 'Sub', 'trip'),
                ('deep', 'Deep', 'sub'), ('beside', 'Beside', NULL);
            INSERT INTO note (id, title, folder) VALUES ('n1', 'One', 'trip'), ('n2', 'Two', 'sub'),
                ('n3', 'Three', 'deep'), ('x', 'Mine', 'beside');
            """
        )
        try await device.store.sync()
    }

    /// Checks that everyone sees the shared rows, and that the owner knows of the share.
    private static func check(_ friends: Friends, sees device: Device) async throws {
        try await settle(friends.ada, device)
        #expect(try await all(device) == tree(of: "trip", friends.ada))
        for device in [friends.ada, device] {
            #expect(try await device.store.verify().differences == [])
            try await device.store.settled()
        }
    }

    @Test(
        "A tree that was changed while nobody shared it is shared as it is",
        arguments: Change.allCases
    )
    func reshare(_ change: Change) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await Self.fill(ada)
            try await friends.accept(friends.share(), bob)
            try await Self.check(friends, sees: bob)
            try await ada.store.unshare("trip", in: "folder")
            try await bob.store.sync()
            #expect(try await bob.rows().isEmpty)
            for part in change.parts {
                try await ada.run(part)
                try await ada.store.sync()
                #expect(try await ada.store.verify().differences == [])
            }
            try await friends.accept(friends.share(), bob)
            try await Self.check(friends, sees: bob)
        }
    }

    @Test(
        "A tree that another device changed while nobody shared it is shared as it is",
        arguments: Change.allCases
    )
    func otherDevice(_ change: Change) async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await Self.fill(ada)
            try await friends.accept(friends.share(), bob)
            let laptop = try await Device(
                friends.cloud,
                friends.users[0],
                configuration: SharingTests.configuration
            )
            try await laptop.store.sync()
            try await ada.store.unshare("trip", in: "folder")
            for part in change.parts {
                try await laptop.run(part)
                try await laptop.store.sync()
            }
            try await friends.accept(friends.share(), bob)
            try await Self.check(friends, sees: bob)
            // The laptop also knows of the share.
            try await laptop.store.sync()
            try await laptop.run("UPDATE note SET title = 'Last'")
            try await laptop.store.sync()
            try await Self.check(friends, sees: bob)
            #expect(try await laptop.store.verify().differences == [])
        }
    }

    @Test("What is put below a row that two devices moved into a shared tree is shared")
    func sameMove() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await Self.fill(ada)
            try await ada.store.share("trip", in: "folder")
            try await ada.store.unshare("trip", in: "folder")
            try await friends.accept(friends.share("beside"), bob)
            let laptop = try await Device(
                friends.cloud,
                friends.users[0],
                configuration: SharingTests.configuration
            )
            try await laptop.store.sync()
            for device in [ada, laptop] {
                try await device.run("UPDATE folder SET parent = 'beside' WHERE id = 'trip'")
            }
            try await settle(ada, laptop)
            try await laptop.run("INSERT INTO note (id, folder) VALUES ('late', 'sub')")
            try await settle(laptop, ada, bob)
            #expect(try await Self.all(bob) == Self.tree(of: "beside", ada))
            #expect(try await Self.all(bob).contains("note late "))
            // Moved out again.
            for device in [ada, laptop] {
                try await device.run("UPDATE folder SET parent = NULL WHERE id = 'trip'")
            }
            try await settle(ada, laptop)
            let places =
                "SELECT group_concat(key) FROM (SELECT key FROM grdb_cloudkit_place ORDER BY key)"
            #expect(try await laptop.value(places) == "beside,x")
            #expect(try await laptop.store.verify().differences == [])
        }
    }

    @Test("A row that a participant takes out of a shared tree before it was sent is their own")
    func unsentLeaves() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await Self.fill(ada)
            try await friends.accept(friends.share(), bob)
            try await bob.run("INSERT INTO note (id, title, folder) VALUES ('own', 'Own', 'trip')")
            try await bob.run("UPDATE note SET folder = NULL WHERE id = 'own'")
            try await settle(bob, ada)
            #expect(try await bob.value("SELECT title FROM note WHERE id = 'own'") == "Own")
            #expect(try await ada.value("SELECT count(*) FROM note WHERE id = 'own'") == "0")
            #expect(try await bob.cloud.record(for: Device.id("note:own")).parent == nil)
            #expect(try await bob.store.journal().isEmpty)
            try await bob.store.settled()
        }
    }

    @Test("What a participant puts below such a row before it is sent goes with it")
    func unsentLeavesWithAllBelow() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await Self.fill(ada)
            try await friends.accept(friends.share(), bob)
            try await bob.run(
                """
                INSERT INTO folder VALUES ('own', 'Own', 'trip'), ('inner', 'Inner', 'own');
                INSERT INTO note (id, title, folder) VALUES ('low', 'Low', 'inner');
                UPDATE folder SET parent = NULL WHERE id = 'own';
                INSERT INTO note (id, title, folder) VALUES ('late', 'Late', 'inner');
                """
            )
            try await settle(bob, ada)
            let own = ["folder inner Inner", "folder own Own", "note late Late", "note low Low"]
            #expect(try await Set(own).isSubset(of: Self.all(bob)))
            for name in ["folder:own", "folder:inner", "note:low", "note:late"] {
                #expect(try await bob.cloud.record(for: Device.id(name)).parent == nil)
            }
            #expect(try await ada.value("SELECT count(*) FROM folder WHERE id = 'own'") == "0")
            #expect(try await ada.value("SELECT count(*) FROM note WHERE id = 'low'") == "0")
            #expect(try await bob.store.journal().isEmpty)
            #expect(try await bob.store.verify().differences == [])
            try await bob.store.settled()
        }
    }

    @Test(
        "A row that was not sent leaves a shared tree for a row of the participant's own at once",
        arguments: [true, false]
    )
    func unsentLeavesForOwn(_ isShared: Bool) async throws {
        try await Self.withFriends { friends in
            let (ada, bob, cleo) = (friends.ada, friends.bob, friends.cleo)
            try await Self.fill(ada)
            try await friends.accept(friends.share(cleo: nil), bob)
            try await bob.run("INSERT INTO folder VALUES ('mine', 'Mine', NULL)")
            try await bob.store.sync()
            if isShared {
                let share = try await bob.store.share("mine", in: "folder") {
                    $0.publicPermission = .readWrite
                }
                try await friends.accept(share, cleo)
            }
            try await bob.run(
                """
                INSERT INTO folder VALUES ('new', 'New', 'trip');
                INSERT INTO note (id, title, folder) VALUES ('low', 'Low', 'new');
                UPDATE folder SET parent = 'mine', name = 'Moved' WHERE id = 'new';
                INSERT INTO note (id, title, folder) VALUES ('late', 'Late', 'new');
                """
            )
            try await settle(bob, ada, cleo)
            #expect(try await ada.value("SELECT count(*) FROM folder WHERE id = 'new'") == "0")
            #expect(try await ada.value("SELECT count(*) FROM note") == "4")
            let tree = try await Self.tree(of: "mine", bob)
            #expect(
                tree == ["folder mine Mine", "folder new Moved", "note late Late", "note low Low"]
            )
            #expect(try await Self.all(cleo) == (isShared ? tree : []))
            #expect(try await bob.store.journal().isEmpty)
            for device in [ada, bob, cleo] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A row that was sent, or is tied to the tree, does not leave for the participant's own")
    func doesNotLeaveForOwn() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await Self.fill(ada)
            try await friends.accept(friends.share(), bob)
            try await bob.run(
                """
                INSERT INTO folder VALUES ('mine', 'Mine', NULL), ('sent', 'Sent', 'trip');
                """
            )
            try await bob.store.sync()
            try await bob.run(
                """
                INSERT INTO folder VALUES ('new', 'New', 'trip');
                UPDATE folder SET parent = 'new' WHERE id = 'sub';
                """
            )
            let before = try await bob.rows()
            for key in ["sent", "new"] {
                await #expect(throws: DatabaseError.self) {
                    try await bob.run("UPDATE folder SET parent = 'mine' WHERE id = ?", [key])
                }
            }
            #expect(try await bob.rows() == before)
        }
    }

    @Test(
        "A tree that is deeper than others see is not shared, and a row that is too deep is listed"
    )
    func tooDeep() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            let chain = (1...101).map { "('f\($0)', 'F', \($0 == 1 ? "NULL" : "'f\($0 - 1)'"))" }
            try await ada.run("INSERT INTO folder VALUES \(chain.joined(separator: ", "))")
            let share = try await friends.share("f1", cleo: nil)
            try await friends.accept(share, bob)
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT count(*) FROM folder") == "100")
            let status = try await ada.store.status
            #expect(status.quarantined.map(\.key) == ["f101"])
            #expect(status.quarantined.first?.reason.contains("100 levels below its top") == true)
            try await ada.run("UPDATE folder SET parent = 'f1' WHERE id = 'f101'")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT count(*) FROM folder") == "101")
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A row below a shared one that had a share of its own is shared with that, once it ends")
    func innerShare() async throws {
        try await Self.withFriends { friends in
            let (ada, bob, cleo) = (friends.ada, friends.bob, friends.cleo)
            try await Self.fill(ada)
            try await friends.accept(friends.share("sub", bob: nil), cleo)
            try await friends.accept(friends.share("trip", cleo: nil), bob)
            try await settle(ada, bob, cleo)
            #expect(try await Self.all(bob) == ["folder trip Trip", "note n1 One"])
            #expect(try await Self.all(cleo) == Self.tree(of: "sub", ada))
            // Cleo does not see the row above, which is not an edit.
            _ = try await cleo.store.verify(repairing: true)
            #expect(try await cleo.store.verify().differences == [])
            try await settle(cleo, ada)
            #expect(try await ada.value("SELECT parent FROM folder WHERE id = 'sub'") == "trip")
            try await ada.store.unshare("sub", in: "folder")
            try await Self.check(friends, sees: bob)
            #expect(try await Self.all(bob).count == 6)
            try await cleo.store.sync()
            #expect(try await Self.all(cleo).isEmpty)
        }
    }

    @Test("A row that was shared with the one above it can be shared by itself, once that is not")
    func outerShareEnds() async throws {
        try await Self.withFriends { friends in
            let (ada, bob) = (friends.ada, friends.bob)
            try await Self.fill(ada)
            try await friends.share("trip")
            try await ada.store.unshare("trip", in: "folder")
            try await friends.accept(friends.share("sub"), bob)
            try await settle(ada, bob)
            #expect(try await Self.all(bob) == Self.tree(of: "sub", ada))
            // The users with whom the row above is shared see nothing of it.
            try await friends.accept(friends.share("trip", bob: nil), friends.cleo)
            try await settle(ada, friends.cleo)
            #expect(try await Self.all(friends.cleo) == ["folder trip Trip", "note n1 One"])
            #expect(try await ada.store.verify().differences == [])
        }
    }

    @Test("A subtree that moves goes from those of the old tree to those of the new")
    func moves() async throws {
        try await Self.withFriends { friends in
            let (ada, bob, cleo) = (friends.ada, friends.bob, friends.cleo)
            try await Self.fill(ada)
            try await friends.accept(friends.share("trip", cleo: nil), bob)
            try await friends.accept(friends.share("beside", bob: nil), cleo)
            for above in ["beside", "trip", nil, "beside", nil, "trip"] {
                try await ada.run("UPDATE folder SET parent = ? WHERE id = 'sub'", [above])
                for device in [ada, bob, cleo] { try await device.store.sync() }
                #expect(try await Self.all(bob) == Self.tree(of: "trip", ada))
                #expect(try await Self.all(cleo) == Self.tree(of: "beside", ada))
                for device in [ada, bob, cleo] {
                    #expect(try await device.store.verify().differences == [])
                }
                // The row is shared again after a while without a share.
                try await ada.run("UPDATE note SET body = 'moved' WHERE id = 'n3'")
            }
        }
    }

    @Test("A subtree that a participant moves between shared trees goes with all below it")
    func participantMoves() async throws {
        try await Self.withFriends { friends in
            let (ada, bob, cleo) = (friends.ada, friends.bob, friends.cleo)
            try await Self.fill(ada)
            try await friends.accept(friends.share("trip", cleo: nil), bob)
            try await friends.accept(friends.share("beside"), bob, cleo)
            try await bob.run("UPDATE folder SET parent = 'beside' WHERE id = 'sub'")
            try await settle(bob, ada, cleo)
            #expect(try await Self.all(cleo) == Self.tree(of: "beside", ada))
            #expect(try await Self.all(cleo).contains("note n3 Three"))
            // Outside of all trees, the row belongs to its owner alone.
            try await bob.run("UPDATE folder SET parent = NULL WHERE id = 'sub'")
            try await bob.store.sync()
            #expect(try await Self.all(bob).count == 4)
            try await settle(ada, cleo, bob)
            #expect(try await Self.all(ada).count == 8)
            for device in [ada, bob, cleo] {
                #expect(try await device.store.verify().differences == [])
                try await device.store.settled()
            }
        }
    }

    @Test("A record that is linked to another row than it should be is found, and put right")
    func verification() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user, configuration: SharingTests.configuration)
            try await Self.fill(phone)
            // Nothing is sent, and so nothing linked, of the rows below.
            try await phone.run(
                """
                CREATE TRIGGER losing BEFORE INSERT ON grdb_cloudkit_outbox BEGIN
                    SELECT RAISE(IGNORE);
                END
                """
            )
            try await phone.store.share("trip", in: "folder")
            try await phone.run("DROP TRIGGER losing")
            let found = try await phone.store.verify().differences
            #expect(found.map(\.kind) == Array(repeating: .otherPlace, count: 5))
            #expect(found.first?.recordName == "folder:deep")
            await phone.store.stop()
            let again = try await Device(
                cloud,
                user,
                database: phone.database,
                configuration: SharingTests.configuration
            )
            _ = try await again.store.verify(repairing: true)
            try await again.store.sync()
            #expect(try await again.store.verify().differences == [])
            let record = try await again.cloud.record(for: Device.id("folder:deep"))
            #expect(record.parent?.recordID.recordName == "folder:sub")
        }
    }

    @Test("An owner who accepts the own share succeeds, and nothing changes")
    func ownShare() async throws {
        try await Self.withFriends { friends in
            let ada = friends.ada
            try await Self.fill(ada)
            let share = try await friends.share()
            let before = try await ada.rows()
            try await friends.accept(share, ada)
            #expect(try await ada.rows() == before)
            #expect(try await ada.container.sharedCloudDatabase.allRecordZones().isEmpty)
            try await ada.run("UPDATE note SET title = 'Still' WHERE id = 'n1'")
            try await ada.store.settled()
            try await ada.store.unshare("trip", in: "folder")
            try await ada.store.settled()
            #expect(try await ada.rows().count == 8)
            #expect(try await ada.store.verify().differences == [])
        }
    }
}
