import CloudKit
import CloudKitStore
import CloudKitTesting
import Support
import Testing

@Suite("The top of a share refers to a row whose key is taken", .timeLimit(.minutes(5)))
struct TakenTopTests {
    typealias Friends = SharingTests.Friends

    /// The order in which Bob accepts the two shares, and Ada has the top of one refer to that of the other.
    enum Order: CaseIterable {
        case acceptsBothBefore
        case acceptsBothAfter
        case acceptsBetween
        case acceptsTheOtherBefore
    }

    @Test(
        "It shows without the reference, in whatever order that came about",
        arguments: Order.allCases
    )
    func order(_ order: Order) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: TakenKeyTests.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            try await bob.run("INSERT INTO folder VALUES ('food', 'Bob''s', NULL)")
            try await bob.store.sync()
            try await ada.run(
                """
                INSERT INTO folder VALUES ('food', 'Ada''s', NULL), ('list', 'List', NULL);
                INSERT INTO note (id, folder) VALUES ('milk', 'list'), ('egg', 'food');
                """
            )
            try await ada.store.sync()
            let above = try await friends.share("food", cleo: nil)
            let top = try await friends.share("list", cleo: nil)
            func refer() async throws {
                try await ada.run("UPDATE folder SET parent = 'food' WHERE id = 'list'")
                try await ada.store.sync()
            }
            switch order {
            case .acceptsBothBefore:
                try await friends.accept(above, bob)
                try await friends.accept(top, bob)
                try await refer()
            case .acceptsBothAfter:
                try await refer()
                try await friends.accept(top, bob)
                try await friends.accept(above, bob)
            case .acceptsBetween:
                try await friends.accept(top, bob)
                try await refer()
                try await bob.store.sync()
                try await friends.accept(above, bob)
            case .acceptsTheOtherBefore:
                try await friends.accept(above, bob)
                try await refer()
                try await friends.accept(top, bob)
            }
            try await settle(bob)
            let phone = try await TakenKeyTests.phone(friends)
            try await TakenKeyTests.expectSame(bob, phone, shown: "food ,list ,milk list")
            // Once the key is free, it has its reference.
            try await bob.run("DELETE FROM folder WHERE id = 'food'")
            try await settle(bob, phone, ada)
            let all = "egg food,food ,list food,milk list"
            try await TakenKeyTests.expectSame(bob, phone, shown: all)
            try await TakenKeyTests.expectSame(ada, shown: all)
        }
    }

    @Test("It stays, with its unsent edits, when the row that it refers to gives up its key")
    func givesUpKey() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let friends = try await Friends(cloud, schema: TakenKeyTests.schema)
            let (ada, bob) = (friends.ada, friends.bob)
            let phone = try await TakenKeyTests.phone(friends)
            try await ada.run(
                """
                INSERT INTO folder VALUES ('food', 'Ada''s', NULL), ('list', 'List', NULL),
                    ('sub', 'Sub', 'food');
                INSERT INTO note (id, folder) VALUES ('milk', 'list'), ('egg', 'sub');
                """
            )
            try await ada.store.sync()
            for folder in ["food", "list"] {
                try await friends.accept(friends.share(folder, cleo: nil), bob)
            }
            try await ada.run("UPDATE folder SET parent = 'food' WHERE id = 'list'")
            try await settle(ada, bob)
            #expect(try await bob.value("SELECT parent FROM folder WHERE id = 'list'") == "food")
            try await phone.run("INSERT INTO folder VALUES ('food', 'Bob''s', NULL)")
            try await phone.store.sync()
            try await bob.run("UPDATE folder SET name = 'Edited' WHERE id = 'list'")
            try await settle(bob, phone, ada)
            try await TakenKeyTests.expectSame(bob, phone, shown: "food ,list ,milk list")
            #expect(try await bob.store.journal().isEmpty)
            #expect(
                try await ada.value("SELECT name || parent FROM folder WHERE id = 'list'")
                    == "Editedfood"
            )
            // What is below the one that waits names the record that has to come first.
            for device in [bob, phone] {
                let status = try await device.store.status
                #expect(status.waitingRows.map(\.key) == ["sub", "egg"])
                #expect(status.waitingRows.map(\.recordName) == ["folder:food", "folder:food"])
                #expect(!status.explanation.joined().contains("does not share"))
            }
        }
    }
}
