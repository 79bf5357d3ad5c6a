import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("A store's whole zone is shared", .timeLimit(.minutes(5)))
struct WholeZoneTests {
    /// Runs a test with Ada, who shares everything, and Bob, who accepts.
    private func withFamily(
        permission: CKShare.ParticipantPermission = .readWrite,
        _ body: @Sendable (_ ada: Device, _ bob: Device, _ owner: String) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser("Ada")
            let configuration = SharingTests.configuration
            let ada = try await Device(cloud, user, configuration: configuration)
            let bob = try await Device(cloud, cloud.addUser("Bob"), configuration: configuration)
            try await ada.run("INSERT INTO folder (id, name) VALUES ('a', 'Ada'), ('b', 'Food')")
            try await bob.run("INSERT INTO folder (id, name) VALUES ('own', 'Bob')")
            try await bob.store.sync()
            let share = try await ada.store.shareEverything { $0.publicPermission = permission }
            try await bob.store.accept(
                bob.container.shareMetadata(for: try #require(share.url))
            )
            try await body(ada, bob, user.recordName)
        }
    }

    private func folders(_ device: Device) async throws -> String? {
        try await device.value("SELECT group_concat(id) FROM (SELECT id FROM folder ORDER BY id)")
    }

    @Test("All rows come to who takes part, and new ones go to the zone, wherever they are written")
    func rows() async throws {
        try await withFamily { ada, bob, _ in
            #expect(try await folders(bob) == "a,b,own")
            try await ada.run("INSERT INTO folder (id, name) VALUES ('c', 'Later')")
            // Below no other row, and below one of the zone.
            try await bob.run(
                """
                INSERT INTO folder (id, name) VALUES ('d', 'Of Bob');
                INSERT INTO note (id, title, folder) VALUES ('n', 'Milk', 'd');
                INSERT INTO folder (id, name, parent) VALUES ('e', 'His own', 'own');
                UPDATE folder SET name = 'Groceries' WHERE id = 'b';
                """
            )
            try await settle(ada, bob)
            #expect(try await folders(ada) == "a,b,c,d")
            #expect(try await ada.value("SELECT title || folder FROM note") == "Milkd")
            #expect(try await ada.value("SELECT name FROM folder WHERE id = 'b'") == "Groceries")
            #expect(try await folders(bob) == "a,b,c,d,e,own")
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("A row below no other keeps its zone when a member gives it another key")
    func otherKey() async throws {
        try await withFamily { ada, bob, owner in
            try await bob.run(
                "INSERT INTO note (id, title, folder) VALUES ('n', 'Milk', 'b')"
            )
            try await settle(bob, ada)
            try await bob.run(
                """
                PRAGMA defer_foreign_keys = 1;
                UPDATE folder SET id = 'c' WHERE id = 'b'; UPDATE note SET folder = 'c';
                """
            )
            try await settle(bob, ada)
            #expect(try await folders(bob) == "a,c,own")
            #expect(try await folders(ada) == "a,c")
            #expect(try await ada.value("SELECT folder || title FROM note") == "cMilk")
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
            try await bob.store.leaveEverything(of: owner)
            #expect(try await folders(bob) == "own")
            #expect(try await folders(ada) == "a,c")
        }
    }

    @Test("A row whose key is taken says how to leave the zone that is shared as a whole")
    func takenKey() async throws {
        try await withFamily { ada, bob, owner in
            try await ada.run("INSERT INTO folder (id, name) VALUES ('own', 'Of Ada')")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT name FROM folder WHERE id = 'own'") == "Bob")
            let reasons = try await bob.store.status.quarantined.map(\.reason)
            #expect(reasons.map { $0.contains("leaveEverything(of: \"\(owner)\")") } == [true])
            try await bob.store.leaveEverything(of: owner)
            #expect(try await bob.store.status.isSettled)
            #expect(try await folders(bob) == "own")
        }
    }

    @Test(
        "A row of one's own stays so when it is replaced",
        arguments: ["", "DELETE FROM folder WHERE id = 'own'; "]
    )
    func replacedOwn(_ deletion: String) async throws {
        try await withFamily { ada, bob, _ in
            try await bob.run(
                deletion + "INSERT OR REPLACE INTO folder (id, name) VALUES ('own', 'New')"
            )
            try await settle(bob, ada)
            #expect(try await folders(ada) == "a,b")
            #expect(try await bob.value("SELECT name FROM folder WHERE id = 'own'") == "New")
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("A reader writes new rows of their own, and none of the zone's")
    func readOnly() async throws {
        try await withFamily(permission: .readOnly) { ada, bob, _ in
            await #expect(throws: DatabaseError.self) {
                try await bob.run("UPDATE folder SET name = 'x' WHERE id = 'a'")
            }
            try await bob.run("INSERT INTO folder (id, name) VALUES ('d', 'Of Bob')")
            try await settle(ada, bob)
            #expect(try await folders(ada) == "a,b")
            #expect(try await folders(bob) == "a,b,d,own")
        }
    }

    @Test("Rows go from who leaves, and from all when the owner ends it")
    func ending() async throws {
        try await withFamily { ada, bob, owner in
            try await bob.store.leaveEverything(of: owner)
            #expect(try await folders(bob) == "own")
            let share = try #require(try await ada.store.shareOfEverything())
            try await bob.store.accept(bob.container.shareMetadata(for: try #require(share.url)))
            #expect(try await folders(bob) == "a,b,own")
            try await ada.store.unshareEverything()
            try await settle(bob, ada)
            #expect(try await folders(bob) == "own")
            #expect(try await folders(ada) == "a,b")
            #expect(try await ada.store.shareOfEverything() == nil)
            for call in [
                { try await ada.store.unshareEverything() },
                { try await bob.store.leaveEverything(of: owner) },
            ] as [@Sendable () async throws -> Void] {
                let error = await #expect(throws: CloudStoreError.self) { try await call() }
                #expect(error?.code == .notShared)
            }
        }
    }

    @Test("New rows go to a zone that has none yet, as long as the user takes part in it")
    func emptyZone() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser("Ada")
            let configuration = SharingTests.configuration
            let ada = try await Device(cloud, user, configuration: configuration)
            let bob = try await Device(cloud, cloud.addUser("Bob"), configuration: configuration)
            let share = try await ada.store.shareEverything { $0.publicPermission = .readWrite }
            try await bob.store.accept(
                bob.container.shareMetadata(for: try #require(share.url))
            )
            try await bob.run("INSERT INTO folder (id, name) VALUES ('a', 'For Ada')")
            try await settle(bob, ada)
            #expect(try await folders(ada) == "a")
            try await ada.run("DELETE FROM folder")
            try await settle(ada, bob)
            try await ada.store.unshareEverything()
            try await settle(bob, ada)
            try await bob.run("INSERT INTO folder (id, name) VALUES ('b', 'Of Bob')")
            try await settle(bob, ada)
            #expect(try await folders(ada) == nil)
            #expect(try await folders(bob) == "b")
            for device in [ada, bob] {
                #expect(try await device.store.verify().differences == [])
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("Of two whole zones that a user joined, new rows go to the owner whose name sorts first")
    func twoOwners() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let configuration = SharingTests.configuration
            var owners: [(name: String, device: Device)] = []
            for name in ["Ada", "Cleo"] {
                let user = try await cloud.addUser(name)
                let device = try await Device(cloud, user, configuration: configuration)
                owners.append((user.recordName, device))
            }
            let bob = try await Device(cloud, cloud.addUser("Bob"), configuration: configuration)
            for owner in owners {
                try await owner.device.run(
                    "INSERT INTO folder (id, name) VALUES ('\(owner.name)', '')"
                )
                let share = try await owner.device.store.shareEverything {
                    $0.publicPermission = .readWrite
                }
                try await bob.store.accept(
                    bob.container.shareMetadata(for: try #require(share.url))
                )
            }
            owners.sort { $0.name < $1.name }
            let (first, second) = (owners[0], owners[1])
            try await bob.run(
                """
                INSERT INTO folder (id, name) VALUES ('new', 'Of Bob');
                INSERT INTO folder (id, name, parent) VALUES ('below', 'Of Bob', '\(second.name)');
                """
            )
            try await settle(bob, first.device, second.device)
            #expect(
                try await Set(folders(first.device)?.split(separator: ",").map(String.init) ?? [])
                    == [first.name, "new"]
            )
            #expect(
                try await Set(folders(second.device)?.split(separator: ",").map(String.init) ?? [])
                    == [second.name, "below"]
            )
        }
    }

    @Test("Everything is not shared over a row that has a share of its own")
    func tops() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await Device(
                cloud,
                cloud.addUser("Ada"),
                configuration: SharingTests.configuration
            )
            try await ada.run("INSERT INTO folder (id, name) VALUES ('a', 'Ada')")
            try await ada.store.share("a", in: "folder")
            let error = await #expect(throws: CloudStoreError.self) {
                try await ada.store.shareEverything()
            }
            #expect(error?.code == .notShared)
            #expect(error?.message.contains("unshare") == true)
            try await ada.store.unshare("a", in: "folder")
            _ = try await ada.store.shareEverything()
        }
    }

    @Test("A row of a zone that is shared as a whole has no share of its own, and says why")
    func shareWithin() async throws {
        try await withFamily { ada, _, _ in
            let error = await #expect(throws: CloudStoreError.self) {
                try await ada.store.share("a", in: "folder")
            }
            #expect(error?.code == .notShared)
            for part in ["'a'", "shareEverything(configure:)", "unshareEverything()"] {
                #expect(error?.message.contains(part) == true)
            }
            try await ada.store.unshareEverything()
            try await ada.store.share("a", in: "folder")
            try await ada.store.settled()
        }
    }
}
