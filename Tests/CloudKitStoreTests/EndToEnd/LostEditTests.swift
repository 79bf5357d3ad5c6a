import CloudKit
import CloudKitStore
import GRDB
import Support
import Testing

@Suite("What a deletion takes along of a row that stays", .timeLimit(.minutes(5)))
struct LostEditTests {
    /// Creates three devices of a user with a note, of which the laptop is offline from then on while the
    /// phone writes and deletes.
    ///
    /// - Parameters:
    ///   - creator: The phone's or the laptop's number among the devices.
    ///   - offline: The laptop's edit.
    ///   - before: The phone's writes after it, which it sends before it deletes the note.
    ///   - body: The test, after the phone has sent its deletion.
    /// - Throws: The errors of the test.
    private func withDeletion(
        creator: Int = 0,
        offline: String = "UPDATE note SET count = 9",
        before: String = "UPDATE note SET title = 'newer', body = 'new'",
        _ body: @Sendable (_ phone: Device, _ laptop: Device, _ tablet: Device) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await Device(cloud, user, tables: Self.tables)
            let laptop = try await Device(cloud, user, tables: Self.tables)
            let tablet = try await Device(cloud, user, tables: Self.tables)
            try await [phone, laptop][creator].run(
                "INSERT INTO folder (id) VALUES ('f'); "
                    + "INSERT INTO note (id, title, count) VALUES ('n', 'old', 1)"
            )
            try await settle(phone, laptop, tablet)
            try await laptop.run(offline)
            for sql in [before, "DELETE FROM note"] {
                try await phone.run(sql)
                for device in [phone, tablet] { try await device.store.sync() }
            }
            try await body(phone, laptop, tablet)
        }
    }

    private static let tables: [SyncedTable] = [
        .table("folder"), .table("note", localOnly: ["draft"], forms: ["tags": .list]),
    ]

    private static let note = "SELECT title || ' ' || coalesce(body, '-') || ' ' || count FROM note"

    /// Checks that some devices have the same note and nothing to send.
    private func check(_ note: String, _ devices: Device...) async throws {
        for device in devices {
            #expect(try await device.value(Self.note) == note)
            #expect(try await device.rows() == devices[0].rows())
            #expect(try await device.store.verify().differences == [])
            try await device.store.settled()
        }
    }

    @Test(
        "A row whose edit survives its deletion has the newest values of its other fields",
        arguments: [0, 1]
    )
    func newest(_ creator: Int) async throws {
        try await withDeletion(creator: creator) { phone, laptop, tablet in
            try await settle(laptop, phone, tablet)
            try await check("newer new 9", phone, laptop, tablet)
            for device in [phone, laptop, tablet] {
                #expect(try await device.store.journal().isEmpty)
            }
        }
    }

    @Test("The newest values come from a device that has only heard of the deletion, too")
    func fromWitness() async throws {
        try await withDeletion { _, laptop, tablet in
            try await settle(laptop, tablet)
            try await check("newer new 9", laptop, tablet)
        }
    }

    @Test("A device that never heard of the deletion brings its newer values back")
    func fromLateDevice() async throws {
        try await withTwoDevices(tables: Self.tables) { phone, laptop, cloud in
            try await phone.run("INSERT INTO note (id, title, count) VALUES ('n', 'old', 1)")
            try await settle(phone, laptop)
            try await phone.run("UPDATE note SET title = 'newer', body = 'new'")
            try await phone.store.sync()
            try await laptop.run("UPDATE note SET count = 9")
            // A deletion by no store.
            _ = try await phone.cloud.deleteRecord(withID: Device.id("note:n"))
            try await laptop.store.sync()
            try await settle(phone, laptop)
            try await check("newer new 9", phone, laptop)
        }
    }

    @Test("Of two edits of one field that a deletion kept apart the later stays, the other is kept")
    func conflict() async throws {
        try await withDeletion(
            offline: "UPDATE note SET title = 'earlier', count = 9",
            before: "UPDATE note SET title = 'newer'"
        ) { phone, laptop, tablet in
            try await settle(laptop, phone, tablet)
            try await check("newer - 9", phone, laptop, tablet)
            let journal = try await phone.store.journal() + tablet.store.journal()
            #expect(journal.map(\.lost) == [["title": .text("earlier")]])
            #expect(journal.map(\.rule) == ["laterEdit"])
        }
    }

    @Test("A value that lost to a later edit made without it is in a journal")
    func overruled() async throws {
        try await withDeletion(
            offline: "UPDATE grdb_cloudkit_control SET wall = 4102444800000; "
                + "UPDATE note SET title = 'later'",
            before: "UPDATE note SET title = 'newer', body = 'new'"
        ) { phone, laptop, tablet in
            try await settle(laptop, phone, tablet)
            try await check("later new 1", phone, laptop, tablet)
            let journal = try await phone.store.journal() + tablet.store.journal()
            #expect(Set(journal.map(\.lost)) == [["title": .text("newer")]])
        }
    }

    @Test("A value that the row cannot have any more is in a journal")
    func impossible() async throws {
        try await withDeletion(before: "UPDATE note SET title = 'newer', folder = 'f'") {
            phone,
            laptop,
            tablet in
            try await phone.run("DELETE FROM folder")
            try await settle(phone, laptop, phone, tablet)
            let devices = [phone, laptop, tablet]
            #expect(try await phone.value("SELECT count FROM note WHERE folder IS NULL") == "9")
            for device in devices {
                #expect(try await device.rows() == phone.rows())
                try await device.store.settled()
            }
            let lost = try await phone.store.journal().flatMap(\.lost.keys)
            #expect(lost.contains("folder"))
        }
    }

    @Test("A new row with the key of a deleted one has nothing of it")
    func reusedKey() async throws {
        try await withDeletion { phone, laptop, tablet in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'another')")
            try await settle(phone, tablet)
            try await check("another - 0", phone, tablet)
            // The laptop's edit was of the deleted row, and is still the later one of its field.
            try await settle(laptop, phone, tablet)
            #expect(
                try await phone.value("SELECT title || coalesce(body, '-') FROM note") == "another-"
            )
            #expect(try await laptop.rows() == phone.rows())
        }
    }
}
