import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("Fields that are kept beside a row")
struct KnownFieldsTests {
    private static func value(_ chance: inout SeededRandom) -> StoreValue {
        switch Int.random(in: 0...9, using: &chance) {
        case 0: .null
        case 1: .integer(.random(in: -9...9, using: &chance))
        case 2: .integer(.random(in: .min ... .max, using: &chance))
        case 3: .real(.random(in: -1e300...1e300, using: &chance))
        case 4: .text(String(repeating: "é", count: .random(in: 0...99, using: &chance)))
        case 5: .bytes(Data(repeating: 7, count: .random(in: 0...99, using: &chance)))
        case 6: .date(milliseconds: .random(in: 0...2_000_000_000_000, using: &chance))
        case 7: .reference("note:\(Int.random(in: 0...99, using: &chance))")
        case 8: .written(.date(milliseconds: 7), as: "t1970-01-01")
        default: .list([.text("a"), .integer(1)])
        }
    }

    private static let stamps = [
        "phone=hogh5h0v5v;0.hogh5gxv4w=a,title", "phone=2,pad=1;0.1=a;1.0=title,b", "phone=0", "",
        "phone=2,pad=1;0.01=a", "phone=2;7.1=a", "no stamp", "phone=2;0.1=", "a=b=c;;", "phone=ZZ",
        "phone=2;0.1=a,,b", "phone=zzzzzzzzzzzzzz;0.1=a", "unheard=2;0.1=a",
    ]

    private static func fields(_ chance: inout SeededRandom) -> [String: StoreValue] {
        var fields: [String: StoreValue] = [:]
        for name in ["a", "b", "c", "title", "!secret", "é", "unheard"]
        where Bool.random(using: &chance) {
            fields[name] = value(&chance)
        }
        if let stamp = stamps.randomElement(using: &chance), Bool.random(using: &chance) {
            fields["storeStamp"] = .text(stamp)
        }
        return fields
    }

    /// Returns words as a file has them.
    private static func words() throws -> Words {
        try DatabaseQueue().write { database in
            try database.execute(
                sql: """
                    CREATE TABLE grdb_cloudkit_word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
                    CREATE TABLE grdb_cloudkit_control (words INTEGER NOT NULL);
                    INSERT INTO grdb_cloudkit_control VALUES (0);
                    """
            )
            let texts = ["storeStamp", "a", "b", "c", "title", "phone", "pad", "!secret", "é"]
            return try Words.adding(texts, database)
        }
    }

    @Test("They are read as they were written, and those that the row has are looked for there")
    func roundTrip() throws {
        let words = try Self.words()
        var chance = SeededRandom(seed: 5)
        var digests = 0
        for _ in 0..<2_000 {
            let fields = Self.fields(&chance)
            let whole = KnownFields(stored: try KnownFields(fields).data(words), words)
            #expect(try whole.values(like: []) == fields)
            let row = fields.filter { _ in Bool.random(using: &chance) }
            func isInRow(_ field: String, _ value: StoreValue) -> Bool { row[field] == value }
            let data = try KnownFields(fields).data(words, isInRow: isInRow)
            let kept = KnownFields(stored: data, words)
            #expect(try kept.values(like: [row]) == fields)
            #expect(try kept.values(like: [[:], row]) == fields)
            // The result is the same when the values are removed later.
            #expect(try whole.data(words, isInRow: isInRow) == data)
            let alone = try kept.values(like: [])
            for (field, value) in alone where value != fields[field] {
                #expect(value.isUnknown && row[field] != nil)
                digests += 1
            }
            #expect(alone.count == fields.count)
            let other = fields.mapValues { _ in StoreValue.text("something else") }
            #expect(try kept.values(like: [other]) == alone)
            #expect(
                try kept.digests { $0 != "a" }
                    == whole.digests { $0 != "a" }
            )
        }
        #expect(digests > 1_000)
    }

    @Test("To set some in the bytes is to set them in the fields")
    func setting() throws {
        let words = try Self.words()
        var chance = SeededRandom(seed: 6)
        for _ in 0..<1_000 {
            let (fields, changes) = (Self.fields(&chance), Self.fields(&chance))
            let stored = KnownFields(stored: try KnownFields(fields).data(words), words)
            for known in [stored, KnownFields(fields)] {
                let set = try known.data(setting: changes, words) { field, _ in field == "title" }
                let found = try KnownFields(stored: set, words).values(like: [changes, fields])
                #expect(found == fields.merging(changes) { $1 })
            }
        }
    }

    @Test("Bytes that are none are refused, whatever they are")
    func noise() throws {
        let words = try Self.words()
        var chance = SeededRandom(seed: 7)
        for _ in 0..<2_000 {
            var data = try KnownFields(Self.fields(&chance)).data(words)
            if !data.isEmpty {
                data[Int.random(in: data.indices, using: &chance)] = .random(
                    in: 0...255,
                    using: &chance
                )
                data = data.prefix(.random(in: 0...data.count, using: &chance))
            }
            let known = KnownFields(stored: Data(data), words)
            _ = try? known.values(like: [])
            _ = try? known.digests { _ in true }
            _ = try? known.data(setting: ["b": .integer(1)], words)
        }
        #expect(throws: (any Error).self) {
            try KnownFields(stored: Data([0x7F, 1]), words).values(like: [])
        }
    }

    @Test(
        "A name is in one form and comes back",
        arguments: [
            "note:n", "note:", ":", "", "no colon",
            "note:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11",
            "note:f2a0c5b4-93d1-4e0c-8b53-5e4b0e0c7a11",
            "note:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0c7A11",
            "note:12345678-1234-1234-1234-123456789012",
            "F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11", "f2a0c5b4-93d1-4e0c-8b53-5e4b0e0c7a11",
            "pair:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11,00000000-0000-0000-0000-00000000000A",
            "pair:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11;00000000-0000-0000-0000-00000000000A",
            "pair:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11,00000000-0000-0000-0000-00000000000a",
            "a:b:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11",
            "zone/_owner\nnote:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11",
            "\u{2}:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11", "né:F2A0C5B4-93D1-4E0C-8B53-5E4B0E0C7A11",
        ]
    )
    func names(_ name: String) {
        let value = StoredName.value(name)
        #expect(StoredName.text(value) == name)
        let isLong = name.utf8.count >= 36
        if case .blob(let data) = value.storage {
            #expect(isLong && data.count <= name.utf8.count - 19)
        }
    }
}
