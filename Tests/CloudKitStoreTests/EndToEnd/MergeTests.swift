import CloudKit
import CloudKitStore
import GRDB
import Support
import Testing

@Suite("Edits of two devices meet", .timeLimit(.minutes(10)))
struct MergeTests {
    /// Creates two devices that have the same note and edit it offline, whichever syncs first.
    private func conflict(
        _ fieldRules: [String: MergeRule] = ["count": .counter, "tags": .set],
        rule: MergeRule = .laterEdit,
        deletion: DeletionRule = .editWins,
        firstIsPhone: Bool,
        phone phoneEdit: String,
        laptop laptopEdit: String,
        _ check: @Sendable (_ phone: Device, _ laptop: Device) async throws -> Void
    ) async throws {
        let tables: [SyncedTable] = [
            .table("folder"),
            .table(
                "note",
                rule: rule,
                fieldRules: fieldRules,
                deletion: deletion,
                localOnly: ["draft"],
                forms: ["tags": .list]
            ),
        ]
        try await withTwoDevices(tables: tables) { phone, laptop, _ in
            try await phone.run(
                "INSERT INTO note (id, title, count, tags) VALUES ('n', 'base', 10, '[\"a\",\"b\"]')"
            )
            try await settle(phone, laptop)
            try await phone.run(phoneEdit)
            try await laptop.run(laptopEdit)
            if firstIsPhone {
                try await settle(phone, laptop)
            } else {
                try await settle(laptop, phone)
            }
            #expect(try await phone.rows() == laptop.rows())
            #expect(try await phone.store.status.isSettled)
            #expect(try await laptop.store.status.isSettled)
            #expect(try await phone.store.verify().differences.isEmpty)
            try await check(phone, laptop)
        }
    }

    @Test("Edits of different fields both survive", arguments: [true, false])
    func differentFields(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'phone'",
            laptop: "UPDATE note SET body = 'laptop'"
        ) { phone, _ in
            let value1 = try await phone.value("SELECT title || body FROM note")
            #expect(value1 == "phonelaptop")
            let journal = try await phone.store.journal()
            #expect(journal.isEmpty)
        }
    }

    @Test("The later edit of a field wins, and the other is kept", arguments: [true, false])
    func laterEdit(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'earlier'",
            laptop: "UPDATE grdb_cloudkit_control SET wall = 4102444800000; "
                + "UPDATE note SET title = 'later'"
        ) { phone, laptop in
            let value2 = try await phone.value("SELECT title FROM note")
            #expect(value2 == "later")
            let entries = try await phone.store.journal() + laptop.store.journal()
            #expect(entries.count == 1)
            #expect(entries[0].lost == ["title": .text("earlier")])
            #expect(entries[0].rule == "laterEdit")
        }
    }

    @Test(
        "An edit that was taken back before it was sent is later than others of its time",
        arguments: [true, false]
    )
    func thereAndBack(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'earlier', body = 'kept'",
            laptop: "UPDATE grdb_cloudkit_control SET wall = 4102444800000; "
                + "UPDATE note SET title = 'there'; UPDATE note SET title = 'base'"
        ) { phone, laptop in
            #expect(try await phone.value("SELECT title || ' ' || body FROM note") == "base kept")
            let entries = try await phone.store.journal() + laptop.store.journal()
            #expect(entries.map(\.lost) == [["title": .text("earlier")]])
            #expect(entries.map(\.rule) == ["laterEdit"])
        }
    }

    @Test(
        "An earlier edit that was taken back loses nothing of a later one",
        arguments: [true, false]
    )
    func thereAndBackEarlier(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'there', count = 1; "
                + "UPDATE note SET title = 'base', count = 10",
            laptop: "UPDATE grdb_cloudkit_control SET wall = 4102444800000; "
                + "UPDATE note SET title = 'later', count = count + 5"
        ) { phone, _ in
            let found = try await phone.value("SELECT title || count FROM note")
            #expect(found == "later15")
        }
    }

    @Test(
        "A row with an edit that was taken back stays when it is deleted",
        arguments: [true, false]
    )
    func thereAndBackOfDeleted(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'there'; UPDATE note SET title = 'base'",
            laptop: "DELETE FROM note"
        ) { phone, _ in
            let found = try await phone.value("SELECT title FROM note")
            #expect(found == "base")
        }
    }

    @Test("A write of the values that a row has is no edit, and nothing is sent")
    func equalValues() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title, count) VALUES ('n', 'base', 10)")
            try await settle(phone, laptop)
            try await laptop.run("UPDATE note SET title = 'laptop'")
            for sql in [
                "UPDATE note SET title = title, count = 10",
                "INSERT INTO note (id, title) VALUES ('n', 'base') "
                    + "ON CONFLICT (id) DO UPDATE SET title = excluded.title",
                "INSERT OR REPLACE INTO note (id, title, count) VALUES ('n', 'base', 10)",
            ] {
                try await phone.run(sql)
                #expect(try await phone.store.sync().saved == 0)
            }
            try await phone.run("INSERT OR REPLACE INTO note (id, title) VALUES ('n', 'base')")
            try await settle(laptop, phone)
            #expect(try await phone.value("SELECT title || count FROM note") == "laptop0")
            // An edit that is taken back is sent once.
            try await phone.run("UPDATE note SET body = 'there'; UPDATE note SET body = NULL")
            #expect(try await phone.store.sync().saved == 1)
            #expect(try await phone.store.sync().saved == 0)
        }
    }

    @Test("A counter counts both steps", arguments: [true, false])
    func counter(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET count = count + 5",
            laptop: "UPDATE note SET count = count + 5"
        ) { phone, _ in
            let value3 = try await phone.value("SELECT count FROM note")
            #expect(value3 == "20")
        }
    }

    @Test("A set keeps what both added and drops what either removed", arguments: [true, false])
    func set(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET tags = '[\"b\",\"p\"]'",
            laptop: "UPDATE note SET tags = '[\"a\",\"b\",\"l\"]'"
        ) { phone, _ in
            let value4 = try await phone.value("SELECT tags FROM note")
            #expect(value4 == "[\"b\",\"l\",\"p\"]")
        }
    }

    @Test("Server wins keeps the edit that came first", arguments: [true, false])
    func server(_ firstIsPhone: Bool) async throws {
        try await conflict(
            rule: .server,
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'phone'",
            laptop: "UPDATE note SET title = 'laptop', body = 'kept'"
        ) { phone, _ in
            let expected = firstIsPhone ? "phone" : "laptop"
            let value5 = try await phone.value("SELECT title FROM note")
            #expect(value5 == expected)
            let value6 = try await phone.value("SELECT body FROM note")
            #expect(value6 == "kept")
        }
    }

    @Test("Client wins keeps the edit that came last", arguments: [true, false])
    func client(_ firstIsPhone: Bool) async throws {
        try await conflict(
            rule: .client,
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'phone'",
            laptop: "UPDATE note SET title = 'laptop', body = 'kept'"
        ) { phone, _ in
            let expected = firstIsPhone ? "laptop" : "phone"
            let value7 = try await phone.value("SELECT title FROM note")
            #expect(value7 == expected)
            let value8 = try await phone.value("SELECT body FROM note")
            #expect(value8 == "kept")
        }
    }

    @Test("A closure of the app sees base and both sides", arguments: [true, false])
    func custom(_ firstIsPhone: Bool) async throws {
        try await conflict(
            rule: .custom { conflict in
                guard case .text(let base) = conflict.base, case .text(let one) = conflict.local,
                    case .text(let other) = conflict.remote
                else { return conflict.remote }
                return .text(base + [one, other].sorted().joined())
            },
            firstIsPhone: firstIsPhone,
            phone: "UPDATE note SET title = 'P'",
            laptop: "UPDATE note SET title = 'L'"
        ) { phone, _ in
            let value9 = try await phone.value("SELECT title FROM note")
            #expect(value9 == "baseLP")
        }
    }

    @Test("An edit beats a deletion, whichever comes first", arguments: [true, false])
    func editWins(_ firstIsPhone: Bool) async throws {
        try await conflict(
            firstIsPhone: firstIsPhone,
            phone: "DELETE FROM note",
            laptop: "UPDATE note SET title = 'edited'"
        ) { phone, laptop in
            let value10 = try await phone.value("SELECT title FROM note")
            #expect(value10 == "edited")
            let value11 = try await phone.value("SELECT count FROM note")
            #expect(value11 == "10")
            // A deletion that is not carried out loses nothing.
            let entries = try await phone.store.journal() + laptop.store.journal()
            #expect(entries.isEmpty)
        }
    }

    @Test("A deletion beats an edit where the table says so", arguments: [true, false])
    func deletionWins(_ firstIsPhone: Bool) async throws {
        try await conflict(
            deletion: .deletionWins,
            firstIsPhone: firstIsPhone,
            phone: "DELETE FROM note",
            laptop: "UPDATE note SET title = 'edited'"
        ) { phone, laptop in
            let rows = try await phone.rows()
            #expect(rows.isEmpty)
            let entries = try await (phone.store.journal() + laptop.store.journal())
                .filter { $0.rule == DeletionRule.deletionWins.rawValue }
            #expect(entries.count == 1)
            #expect(entries.first?.lost["title"] == .text("edited"))
        }
    }

    @Test("What lost can be brought back, and travels as an ordinary edit")
    func restore() async throws {
        try await conflict(
            deletion: .deletionWins,
            firstIsPhone: true,
            phone: "DELETE FROM note",
            laptop: "UPDATE note SET title = 'edited'"
        ) { phone, laptop in
            let entry = try #require(try await laptop.store.journal().first)
            try await laptop.store.restore(entry)
            try await settle(laptop, phone)
            let value12 = try await phone.value("SELECT title FROM note")
            #expect(value12 == "edited")
            #expect(try await phone.rows() == laptop.rows())
        }
    }

    @Test("A clock that is years ahead wins no more once the server was heard")
    func skew() async throws {
        try await withTwoDevices { phone, laptop, _ in
            // The laptop's clock shows the year 2100.
            try await laptop.run("UPDATE grdb_cloudkit_control SET wall = 4102444800000")
            try await laptop.run("INSERT INTO note (id, title) VALUES ('n', 'base')")
            try await settle(laptop, phone)
            try await laptop.run("UPDATE note SET title = 'laptop'")
            try await phone.run(
                "UPDATE grdb_cloudkit_control SET wall = 10000 "
                    + "+ CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
            )
            try await phone.run("UPDATE note SET title = 'phone, ten seconds later'")
            try await settle(laptop, phone)
            #expect(try await laptop.rows() == phone.rows())
            #expect(
                try await laptop.value("SELECT title FROM note") == "phone, ten seconds later"
            )
        }
    }

    @Test("The journal keeps as many entries as it may, the newest, and none that are too old")
    func trimmedJournal() async throws {
        try await withTwoDevices { phone, laptop, _ in
            try await phone.run("INSERT INTO note (id, title) VALUES ('n', 'start')")
            try await settle(phone, laptop)
            for number in 1...4 {
                try await laptop.run("UPDATE note SET title = 'laptop \(number)'")
                try await phone.run("UPDATE note SET title = 'phone \(number)'")
                try await settle(laptop, phone)
            }
            let entries = try await phone.store.journal()
            #expect(entries.count == 4)
            await phone.store.stop()
            func open(
                _ change: (inout CloudStore.Configuration) -> Void
            ) async throws -> [JournalEntry] {
                var configuration = Device.configuration
                change(&configuration)
                let store = try CloudStore(
                    database: phone.database,
                    container: phone.container,
                    tables: Device.notes,
                    configuration: configuration
                )
                try await store.start()
                let entries = try await store.journal()
                await store.stop()
                return entries
            }
            #expect(try await open { _ in } == entries)
            #expect(try await open { $0.journalLimit = 3 } == Array(entries.suffix(3)))
            try await phone.run("UPDATE grdb_cloudkit_journal SET time = time - 100 * 86400000000")
            #expect(try await open { $0.journalAge = nil }.count == 3)
            #expect(try await open { _ in } == [])
        }
    }
}
