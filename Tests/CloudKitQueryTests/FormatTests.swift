import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Formats of predicates", .timeLimit(.minutes(10)))
struct FormatTests {
    static func record(_ fields: [String: any Sendable]) -> CKRecord {
        let record = CKRecord(recordType: "Item")
        for (key, value) in fields { record.setValue(value, forKey: key) }
        return record
    }

    @Test(
        "A literal means what it says",
        arguments: [
            (#"n == -9223372036854775808"#, Int64.min), ("n == 0xff", 255),
            ("n == -0x8000000000000000", .min), ("n == 9223372036854775807", .max),
            ("self.n == 5", 5), ("SELF.n == 5", 5), ("n == - 5", -5),
            ("n > -9223372036854775808", 0),
        ] as [(String, Int64)]
    )
    func integers(format: String, value: Int64) {
        #expect(NSPredicate(format: format).evaluate(with: Self.record(["n": value])))
        #expect(!NSPredicate(format: format).evaluate(with: Self.record(["n": "text"])))
    }

    @Test(
        "Escapes stand for what C makes of them, and marks stay in their text",
        arguments: [
            (#"s == 'a\nb'"#, "a\nb"), (#"s == 'a\rb'"#, "a\rb"), (#"s == 'a\tb'"#, "a\tb"),
            (#"s == '\x78y'"#, "xy"), (#"s == '\u0078'"#, "x"), (#"s == '\170'"#, "x"),
            (#"s == '\ud83c\udf89'"#, "🎉"), (#"s == 'it\'s'"#, "it's"), (#"s == '\\'"#, "\\"),
            (#"s == 'a\.b'"#, "a.b"), ("s == '\u{301}e'", "\u{301}e"),
            ("s == 'e\u{301}'", "e\u{301}"),
            ("s == \"\u{200D}x\"", "\u{200D}x"), ("s == 'a\r\nb'", "a\r\nb"),
        ]
    )
    func texts(format: String, value: String) {
        #expect(NSPredicate(format: format).evaluate(with: Self.record(["s": value])), "\(format)")
        #expect(!NSPredicate(format: format).evaluate(with: Self.record(["s": value + "x"])))
    }

    /// Returns the error with which a query with a predicate is refused; nil when it succeeds.
    func refusal(
        _ predicate: NSPredicate,
        sort: [NSSortDescriptor] = [],
        _ database: CKDatabase
    ) async throws -> String? {
        let query = CKQuery(recordType: "Item", predicate: predicate)
        query.sortDescriptors = sort
        do {
            _ = try await database.records(matching: query, inZoneWith: nil)
            return nil
        } catch let error as CKError {
            #expect(error.code == .invalidArguments, "\(error)")
            return "\(error)"
        }
    }

    /// Returns a database with one item that has every field.
    func database() async throws -> CKDatabase {
        let cloud = try await TestCloud()
        let database = try await cloud.device(of: cloud.addUser()).privateCloudDatabase
        let place = CLLocation(latitude: 1, longitude: 2)
        try await database.save(
            Self.record([
                "n": 5, "s": "x", "x": 0.5, "ls": ["a"], "p": place, "d": Date(), "t": "the cat",
            ])
        )
        return database
    }

    @Test("What is no predicate, or would mean something else, is refused with its place")
    func refusals() async throws {
        let database = try await database()
        let formats: [(NSPredicate, String)] = [
            (NSPredicate(format: #"s == 'a\qb'"#), "character 8"),
            (NSPredicate(format: #"s == '\u00'"#), "character 7"),
            (NSPredicate(format: #"s == '\ud83c'"#), "character 7"),
            (NSPredicate(format: "s ==[x] 'a'"), "character 6"),
            (NSPredicate(format: "s ==[] 'a'"), "character 6"),
            (NSPredicate(format: "n == 5", 6), "character 7"),
            (NSPredicate(format: "n == %d", 6, 7), "character 8"),
            (NSPredicate(format: "n == 1e999"), "character 6"),
            (NSPredicate(format: "n == 9223372036854775808"), "character 6"),
            (NSPredicate(format: "n == $"), "character 6"),
            (NSPredicate(format: "n == 4.5"), "n"),
            (NSPredicate(format: "n == -18446744073709551615"), "character 6"),
            (NSPredicate(format: "n > -9223372036854775809"), "character 5"),
            (NSPredicate(format: "n > - 9223372036854775809"), "-9223372036854775809"),
        ]
        for (predicate, place) in formats {
            let text = try await refusal(predicate, database)
            #expect(text?.contains(place) == true, "\(predicate): \(text ?? "answered")")
        }
    }

    @Test("A function with another number of arguments is refused, and holds for nothing")
    func arguments() async throws {
        let database = try await database()
        let record = Self.record([
            "p": CLLocation(latitude: 1, longitude: 2), "d": Date(), "s": "x",
        ])
        let formats = [
            "distanceToLocation:fromLocation:(p) < 5", "distanceToLocation:fromLocation:() < 5",
            "distanceToLocation:fromLocation:(p, p, p) < 5", "now(1) > d", "now(d) > d",
            "CAST(5) < d", "CAST(5, 'NSDate', 'NSDate') < d", "tokenize:using:() == s",
        ]
        for format in formats {
            let text = try await refusal(NSPredicate(format: format), database)
            #expect(text?.contains("character 1: ") == true, "\(format): \(text ?? "answered")")
            #expect(!NSPredicate(format: format).evaluate(with: record), "\(format)")
            #expect(!NSPredicate(format: "NOT " + format).evaluate(with: record), "NOT \(format)")
        }
        #expect(NSPredicate(format: "d <= now()").evaluate(with: record))
    }

    @Test("A word is ignored as it is written, with its accents")
    func ignoredWords() async throws {
        let database = try await database()
        let names = ["Thé vert", "The\u{301}", "The tea", "à la crème", "a la carte"]
        let saved = try await database.modifyRecords(
            saving: names.map { Self.record(["t": $0]) },
            deleting: []
        ).saveResults.values.map { try $0.get() }
        for (word, expected) in [
            ("thé", ["Thé vert", "The\u{301}"]), ("the\u{301} VERT", ["Thé vert"]),
            ("the tea", ["The tea"]), ("à la", ["à la crème"]),
            ("a la", ["à la crème", "a la carte"]),
        ] {
            let predicate = NSPredicate(format: "self TOKENMATCHES %@", word)
            let (found, _) = try await database.records(
                matching: CKQuery(recordType: "Item", predicate: predicate)
            )
            let texts = try found.map { try $0.1.get()["t"] as? String ?? "" }
            #expect(Set(texts) == Set(expected), "\(word)")
            let held = saved.filter { predicate.evaluate(with: $0) }
            #expect(Set(held.compactMap { $0["t"] as? String }) == Set(expected), "\(word)")
        }
    }

    @Test("An order that no schema allows is refused without such advice")
    func orders() async throws {
        let database = try await database()
        let text = try await refusal(
            NSPredicate(value: true),
            sort: [NSSortDescriptor(key: "ls", ascending: true)],
            database
        )
        #expect(text?.contains("STRING_LIST, and lists have no order") == true, "\(text ?? "")")
        #expect(text?.contains("SORTABLE") == false)
    }

    @Test("An order by a key path or a comparator is refused")
    func keyPaths() async throws {
        let database = try await database()
        let everything = NSPredicate(value: true)
        for order in [
            NSSortDescriptor(keyPath: \CKRecord.recordType, ascending: true),
            NSSortDescriptor(keyPath: \CKRecord.recordType, ascending: true) { left, right in
                (left as? String ?? "").compare(right as? String ?? "")
            },
        ] {
            #expect(order.key == nil)
            let text = try await refusal(everything, sort: [order], database)
            #expect(text?.contains("NSSortDescriptor(key:ascending:)") == true)
        }
        #expect(NSSortDescriptor(key: "n", ascending: true).key == "n")
    }

    @Test("An order by distance can be reversed")
    func reversed() throws {
        let order = CKLocationSortDescriptor(
            key: "p",
            relativeLocation: CLLocation(latitude: 1, longitude: 2)
        )
        let reversed = try #require(order.reversedSortDescriptor as? CKLocationSortDescriptor)
        #expect(reversed.key == "p" && !reversed.ascending)
        #expect(reversed.relativeLocation.coordinate.latitude == 1)
        let near = Self.record(["p": CLLocation(latitude: 1, longitude: 2)])
        let far = Self.record(["p": CLLocation(latitude: 50, longitude: 2)])
        #expect(order.compare(near, to: far) == .orderedAscending)
        #expect(reversed.compare(near, to: far) == .orderedDescending)
    }

    @Test("A mutated format is refused with a place in it, or means one thing everywhere")
    func mutations() async throws {
        let cloud = try await TestCloud()
        let user = try await cloud.addUser()
        let database = try await cloud.device(of: user).privateCloudDatabase
        let formats = [
            "n >= 18 AND NOT s BEGINSWITH 'A'", "n BETWEEN {1, -5} AND x < 0.5e3",
            "ANY ls IN {'a', \"b\"}", "s == 'it\\'s' && n != 0x1F", "self CONTAINS[cd] 'the cat'",
            "NOT (n IN {1, 2, 3})", "ls CONTAINS 'a' AND s IN {'x'}", "recordID == 'same'",
            "creationDate > CAST(5, 'NSDate')", "TRUEPREDICATE AND self.n == 5",
        ]
        let pieces = [
            "(", ")", "'", "\"", "\\", "{", "}", "[", "]", ",", "-", "%@", "%K", "$a", "#n", "NOT ",
            "AND ", "OR ", "nil", "self", ".", "5", "\u{301}", "🎉", "\0", "==", "<", "!", "ANY ",
            " ",
        ]
        let seeds = ProcessInfo.processInfo.environment["CLOUDKIT_QUERY_MUTATIONS"].flatMap(
            Int.init
        )
        var chance = SeededRandom(seed: 7)
        var records: [CKRecord] = []
        for index in 0..<8 {
            let record = Self.record([
                "n": index - 2, "s": ["x", "A", "it's", ""][index % 4], "x": Double(index) / 2,
                "ls": index == 0 ? ["c"] : ["a", "b"],
            ])
            records.append(try await database.save(record))
        }
        var answered = 0
        for round in 0..<(seeds ?? 1500) {
            var text = Array(formats[round % formats.count])
            for _ in 0..<Int.random(in: 1...3, using: &chance) {
                let place = Int.random(in: 0...text.count, using: &chance)
                let piece = pieces[Int.random(in: 0..<pieces.count, using: &chance)]
                switch Int.random(in: 0..<3, using: &chance) {
                case 0: text.insert(contentsOf: piece, at: place)
                case 1: text.removeSubrange(place..<min(text.count, place + 2))
                default: text.replaceSubrange(place..<min(text.count, place + 1), with: piece)
                }
            }
            let format = String(text)
            let predicate = NSPredicate(format: format)
            let held = Set(
                records.filter { predicate.evaluate(with: $0) }.map(\.recordID.recordName)
            )
            let query = CKQuery(recordType: "Item", predicate: predicate)
            do {
                let (matches, _) = try await database.records(
                    matching: query,
                    inZoneWith: CKRecordZone.ID.default
                )
                #expect(Set(matches.map(\.0.recordName)) == held, "round \(round): \(format)")
                answered += 1
            } catch let error as CKError {
                #expect(error.code == .invalidArguments, "round \(round): \(format): \(error)")
            }
        }
        #expect(answered > 0)
    }
}
