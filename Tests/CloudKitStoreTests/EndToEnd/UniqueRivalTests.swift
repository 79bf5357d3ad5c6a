import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import GRDB
import Support
import Synchronization
import Testing

@Suite("Rows that show get UNIQUE values of other users' rows", .timeLimit(.minutes(5)))
struct UniqueRivalTests {
    typealias Friends = SharingTests.Friends
    private typealias Setting = EndedRivalTests

    /// Checks that the devices of a user show the same folders, and one that is new.
    private static func expectSame(
        _ friends: Friends,
        _ devices: Device...,
        shown: String
    ) async throws {
        let late = try await Setting.phone(friends)
        try await late.store.sync()
        for device in devices + [late] {
            #expect(try await Setting.folders(device) == shown)
            #expect(try await device.rows() == late.rows())
            #expect(try await device.store.status.waitingToSend == 0)
            #expect(try await device.store.verify().differences == [])
        }
    }

    /// Runs a test with Ada's folder 'sub' that Bob's devices show, beside one of his own.
    private static func withFriends(
        bob permission: CKShare.ParticipantPermission = .readWrite,
        own: String = "Food",
        _ body: @Sendable (Friends, _ phone: Device, InterruptedTransport) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: Setting.schema)
            let holder = TransportHolder()
            let phone = try await Setting.phone(friends, transport: holder.wrap)
            try await friends.ada.run(
                """
                INSERT INTO folder (id, name) VALUES ('trip', 'Trip');
                INSERT INTO folder (id, name, parent) VALUES ('sub', 'Gear', 'trip');
                INSERT INTO note (id, title, folder) VALUES ('n', 'Tent', 'sub');
                """
            )
            try await friends.ada.store.sync()
            try await friends.bob.run("INSERT INTO folder (id, name) VALUES ('own', '\(own)')")
            try await friends.bob.store.sync()
            try await friends.accept(friends.share(bob: permission, cleo: nil), friends.bob)
            try await settle(friends.bob, phone)
            #expect(try await Setting.folders(phone) == "own\(own),subGear,tripTrip")
            try await body(friends, phone, holder.transport)
        }
    }

    private static let renaming =
        "UPDATE folder SET name = 'Food', label = 'New' WHERE id = 'sub'"

    @Test(
        "A shared row that gets the value of one's own leaves all devices, and comes back later",
        arguments: [CKShare.ParticipantPermission.readWrite, .readOnly]
    )
    func followed(_ permission: CKShare.ParticipantPermission) async throws {
        try await Self.withFriends(bob: permission) { friends, phone, _ in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(Self.renaming)
            try await ada.store.sync()
            for device in [bob, phone] {
                try await device.store.sync()
                #expect(try await Setting.folders(device) == "ownFood,tripTrip")
                #expect(try await device.store.status.quarantined.map(\.key) == ["sub"])
            }
            try await Self.expectSame(friends, bob, phone, shown: "ownFood,tripTrip")
            try await ada.run("UPDATE folder SET label = 'Newer' WHERE id = 'sub'")
            try await ada.store.sync()
            try await bob.run("UPDATE folder SET name = 'Drinks' WHERE id = 'own'")
            try await settle(bob, phone, ada)
            let shown = "ownDrinks,subFoodNewer,tripTrip"
            try await Self.expectSame(friends, bob, phone, shown: shown)
            #expect(try await Setting.folders(ada) == "subFoodNewer,tripTrip")
            #expect(try await bob.value("SELECT folder FROM note") == "sub")
            for device in [ada, bob, phone] {
                #expect(try await device.store.journal().isEmpty)
                #expect(try await device.store.status.isSettled)
            }
        }
    }

    @Test("Edits of such a row, and below it, are sent before it leaves the device")
    func unsentEdits() async throws {
        try await Self.withFriends { friends, phone, _ in
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("UPDATE folder SET place = 'Mine' WHERE id = 'sub'")
            try await phone.run("UPDATE note SET title = 'Big' WHERE id = 'n'")
            try await ada.run(Self.renaming)
            try await ada.store.sync()
            try await settle(bob, phone, ada)
            #expect(try await Setting.folders(ada) == "subFoodNewMine,tripTrip")
            #expect(try await ada.value("SELECT title FROM note") == "Big")
            try await Self.expectSame(friends, bob, phone, shown: "ownFood,tripTrip")
            for device in [ada, bob, phone] {
                #expect(try await device.store.journal().isEmpty)
            }
        }
    }

    @Test("While its edits cannot be sent, such a row shows what else its owner wrote")
    func unseen() async throws {
        try await Self.withFriends { friends, phone, transport in
            let ada = friends.ada
            try await phone.run("UPDATE folder SET place = 'Mine' WHERE id = 'sub'")
            try await ada.run(Self.renaming)
            try await ada.store.sync()
            for _ in 0..<20 { transport.fail("records/modify", .cut) }
            await #expect(throws: CKError.self) { try await phone.store.sync() }
            #expect(try await Setting.folders(phone) == "ownFood,subGearNewMine,tripTrip")
            try await phone.run("UPDATE folder SET label = label || 'er' WHERE id = 'sub'")
            transport.script.withLock { $0.faults = [] }
            try await settle(phone, ada)
            #expect(try await Setting.folders(ada) == "subFoodNewerMine,tripTrip")
            try await Self.expectSame(friends, phone, shown: "ownFood,tripTrip")
        }
    }

    @Test("One's own row that gets the value of a shared one has it on all devices")
    func ownChanges() async throws {
        try await Self.withFriends(own: "Tools") { friends, phone, _ in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("UPDATE folder SET name = 'Lamps' WHERE id = 'sub'")
            try await settle(ada, bob)
            // The phone still shows the name that Ada's had before.
            try await phone.run("UPDATE folder SET name = 'Lamps', label = 'L' WHERE id = 'own'")
            try await settle(phone, bob)
            try await Self.expectSame(friends, bob, phone, shown: "ownLampsL,tripTrip")
        }
    }

    @Test("An unsent reference to what leaves is in the journal under the rule unique")
    func unsentReference() async throws {
        try await Self.withFriends { friends, _, _ in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run("INSERT INTO note (id, folder) VALUES ('m', 'trip')")
            try await settle(ada, bob)
            try await bob.run("UPDATE note SET related = 'n' WHERE id = 'm'")
            try await ada.run(Self.renaming)
            try await settle(ada, bob)
            #expect(try await Setting.folders(bob) == "ownFood,tripTrip")
            let journal = try await bob.store.journal()
            #expect(journal.map { $0.key + $0.rule } == ["munique"])
            let entry = try #require(journal.first)
            #expect(entry.lost == ["related": .reference("note:n")])
            // It can be restored once the row is back.
            try await bob.run("UPDATE folder SET name = 'Drinks' WHERE id = 'own'")
            try await settle(bob, ada)
            try await bob.store.restore(entry)
            try await settle(bob, ada)
            #expect(try await ada.value("SELECT related FROM note WHERE id = 'm'") == "n")
        }
    }

    // MARK: Two owners

    @Test(
        "Of two owners' rows the same one shows, whichever gets the value of the other",
        arguments: [true, false]
    )
    func owners(_ firstChanges: Bool) async throws {
        try await Setting.withOwners(("One", "Two")) { friends, owners, phone in
            #expect(try await Setting.folders(phone) == "aOne,bTwo,topaTop a,topbTop b")
            let name = firstChanges ? "Two" : "One"
            try await owners[firstChanges ? 0 : 1].run(
                "UPDATE folder SET name = '\(name)', label = 'New' WHERE id IN ('a', 'b')"
            )
            try await settle(owners[0], owners[1], friends.bob, phone)
            let a = firstChanges ? "aTwoNew" : "aOne"
            try await Self.expectSame(
                friends,
                friends.bob,
                phone,
                shown: "\(a),topaTop a,topbTop b"
            )
        }
    }

    // MARK: Explanations

    @Test("The reason names the row that has the value, whose it is, and what waits for the record")
    func reasons() async throws {
        try await Self.withFriends { friends, phone, _ in
            let (ada, bob) = (friends.ada, friends.bob)
            try await ada.run(Self.renaming)
            try await settle(ada, bob, phone)
            let late = try await Setting.phone(friends)
            try await late.store.sync()
            for device in [bob, phone, late] {
                let status = try await device.store.status
                let reason = try #require(status.quarantined.first?.reason)
                for part in [
                    "'folder:sub' that the user '\(friends.users[0].recordName)' shares",
                    "your own row 'own' has the UNIQUE value of 'name' in the table 'folder'",
                    "give your own row another value",
                ] {
                    #expect(reason.contains(part), "\(reason)")
                }
                #expect(
                    status.explanation.contains(
                        "The row 'n' of 'note' waits for the record 'folder:sub', which is quarantined."
                    ),
                    "\(status.explanation)"
                )
                #expect(!status.explanation.joined().contains("does not share"))
            }
        }
    }

    @Test("Of two owners' rows, the reason names both owners")
    func reasonsOfOwners() async throws {
        try await Setting.withOwners(("Same", "Same")) { friends, _, phone in
            let users = [friends.users[0], friends.users[2]].map(\.recordName).sorted()
            for device in [friends.bob, phone] {
                let reason = try await device.store.status.quarantined.first?.reason ?? ""
                #expect(
                    reason.contains("'folder:b' that the user '\(users[1])' shares"),
                    "\(reason)"
                )
                #expect(reason.contains("the row 'a' that the user '\(users[0])' shares"))
            }
        }
    }
}
