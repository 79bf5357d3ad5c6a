import CloudKit
import Foundation
import Support
import Testing

@Suite("Predicates that the service evaluates", .timeLimit(.minutes(10)))
struct PredicateTests {
    static let zone = CKRecordZone(zoneName: "People")

    private static func identity(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zone.zoneID)
    }

    /// Returns five people, born on the first days of 1970; Ada is the chief of Bob and Cleo.
    private static func people() -> [CKRecord] {
        let mottos = ["red apple", "Red pear", "green apple", "blue sky", "Eva says hello"]
        return ["Ada", "Bob", "Cleo", "Dan", "Eva"].enumerated().map { index, name in
            let record = CKRecord(recordType: "Person", recordID: identity(name))
            record["name"] = name
            record["age"] = 20 + index
            record["tags"] = index.isMultiple(of: 2) ? ["even", "all"] : ["odd", "all"]
            record["motto"] = mottos[index]
            record["born"] = Date(timeIntervalSince1970: Double(index) * 86_400)
            record["seal"] = Data([UInt8(index), 255])
            record["home"] = CLLocation(latitude: 50 + Double(index), longitude: 10)
            if name == "Bob" || name == "Cleo" {
                record["chief"] = CKRecord.Reference(recordID: identity("Ada"), action: .none)
            }
            return record
        }
    }

    /// Saves the people in a database.
    private static func fill(_ database: CKDatabase) async throws {
        try await database.save(zone)
        let (saved, _) = try await database.modifyRecords(saving: people(), deleting: [])
        for result in saved.values { _ = try result.get() }
    }

    /// Returns the names of the people that a predicate matches, in order.
    private static func names(
        matching predicate: NSPredicate,
        in database: CKDatabase
    ) async throws -> [String] {
        let query = CKQuery(recordType: "Person", predicate: predicate)
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let (matches, _) = try await database.records(matching: query, inZoneWith: zone.zoneID)
        return try matches.map { try $0.1.get().recordID.recordName }
    }

    // MARK: What is answered

    @Test("Every spelling of an operator is understood", arguments: CloudFixture.allCases)
    func spellings(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await Self.fill(database)
            for (format, expected) in [
                ("age = 22", ["Cleo"]),
                ("age <> 20", ["Bob", "Cleo", "Dan", "Eva"]),
                ("age =< 21", ["Ada", "Bob"]),
                ("age => 23", ["Dan", "Eva"]),
                ("age > 20 && age < 23", ["Bob", "Cleo"]),
                ("!(age < 23)", ["Dan", "Eva"]),
                ("not age < 23 and name beginswith 'E'", ["Eva"]),
                ("age between {21, 22}", ["Bob", "Cleo"]),
            ] {
                let predicate = NSPredicate(format: format)
                let found = try await Self.names(matching: predicate, in: database)
                #expect(found == expected, "\(format)")
            }
        }
    }

    @Test("ANY and SOME ask about the members of a list", arguments: CloudFixture.allCases)
    func members(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await Self.fill(database)
            for (format, expected) in [
                ("SOME tags = 'even'", ["Ada", "Cleo", "Eva"]),
                ("ANY tags CONTAINS 'odd'", ["Bob", "Dan"]),
                ("SOME tags IN {'odd', 'none'}", ["Bob", "Dan"]),
                ("SOME tags BEGINSWITH 'ev'", ["Ada", "Cleo", "Eva"]),
                ("ANY {'Ada', 'Eva'} = name", ["Ada", "Eva"]),
                ("NOT (ANY tags = 'odd')", ["Ada", "Cleo", "Eva"]),
            ] {
                let predicate = NSPredicate(format: format)
                let found = try await Self.names(matching: predicate, in: database)
                #expect(found == expected, "\(format)")
            }
        }
    }

    @Test(
        "Compounds of predicates hold where all of their parts do",
        arguments: CloudFixture.allCases
    )
    func compounds(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await Self.fill(database)
            let grown = NSPredicate(format: "age >= %d", 21)
            let odd = NSPredicate(format: "tags CONTAINS %@", "odd")
            let notOdd = NSCompoundPredicate(notPredicateWithSubpredicate: odd)
            let both = NSCompoundPredicate(andPredicateWithSubpredicates: [grown, odd])
            let nested = NSCompoundPredicate(
                andPredicateWithSubpredicates: [both, NSPredicate(format: "name != 'Dan'")]
            )
            #expect(try await Self.names(matching: both, in: database) == ["Bob", "Dan"])
            #expect(try await Self.names(matching: nested, in: database) == ["Bob"])
            #expect(
                try await Self.names(matching: notOdd, in: database) == ["Ada", "Cleo", "Eva"]
            )
            let rest = NSCompoundPredicate(andPredicateWithSubpredicates: [grown, notOdd])
            #expect(try await Self.names(matching: rest, in: database) == ["Cleo", "Eva"])
        }
    }

    @Test("Searches for words ignore case and can be joined", arguments: CloudFixture.allCases)
    func words(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await Self.fill(database)
            for (format, expected) in [
                ("self CONTAINS 'red'", ["Ada", "Bob"]),
                ("self CONTAINS 'red' AND self CONTAINS 'apple'", ["Ada"]),
                ("self CONTAINS 'apple' AND age > 20", ["Cleo"]),
                ("self CONTAINS[c] 'RED'", ["Ada", "Bob"]),
                ("self CONTAINS[cd] 'APPLE pear'", ["Ada", "Bob", "Cleo"]),
                ("self TOKENMATCHES 'apple red'", ["Ada"]),
                ("allTokens TOKENMATCHES[cdl] 'Red Pear'", ["Bob"]),
            ] {
                let predicate = NSPredicate(format: format)
                let found = try await Self.names(matching: predicate, in: database)
                #expect(found == expected, "\(format)")
            }
        }
    }

    @Test(
        "Records, references, dates and bytes are compared with fields",
        arguments: CloudFixture.allCases
    )
    func values(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await Self.fill(database)
            let ada = CKRecord(recordType: "Person", recordID: Self.identity("Ada"))
            let cascading = CKRecord.Reference(recordID: ada.recordID, action: .deleteSelf)
            let thirdDay = Date(timeIntervalSince1970: 2 * 86_400)
            let cases: [(String, [Any], [String])] = [
                ("chief == %@", [ada], ["Bob", "Cleo"]),
                ("chief == %@", [ada.recordID], ["Bob", "Cleo"]),
                ("chief == %@", [cascading], ["Bob", "Cleo"]),
                ("chief IN %@", [[ada]], ["Bob", "Cleo"]),
                ("chief == %@", [Self.identity("Eva")], []),
                ("born == %@", [thirdDay], ["Cleo"]),
                ("born > %@", [thirdDay], ["Dan", "Eva"]),
                ("%K <= %@", ["born", thirdDay], ["Ada", "Bob", "Cleo"]),
                ("seal == %@", [Data([1, 255])], ["Bob"]),
                ("seal IN %@", [[Data([0, 255]), Data([4, 255]), Data([1])]], ["Ada", "Eva"]),
            ]
            for (format, arguments, expected) in cases {
                let predicate = NSPredicate(format: format, argumentArray: arguments)
                let found = try await Self.names(matching: predicate, in: database)
                #expect(found == expected, "\(format), \(arguments)")
            }
        }
    }

    @Test("What every record has can be asked about", arguments: CloudFixture.allCases)
    func systemFields(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let container = try await cloud.device(of: try await cloud.addUser())
            let database = container.privateCloudDatabase
            try await Self.fill(database)
            let user = try await container.userRecordID()
            let me = CKRecord.ID(recordName: CKCurrentUserDefaultName)
            let stranger = CKRecord.ID(recordName: "nobody")
            let bob = Self.identity("Bob")
            let eva = CKRecord(recordType: "Person", recordID: Self.identity("Eva"))
            let past = Date(timeIntervalSince1970: 0)
            let everyone = ["Ada", "Bob", "Cleo", "Dan", "Eva"]
            let cases: [(String, [Any], [String])] = [
                ("creationDate > %@", [past], everyone),
                ("creationDate < %@", [past], []),
                ("___createTime > %@ AND age < 22", [past], ["Ada", "Bob"]),
                ("modificationDate >= %@", [past], everyone),
                ("%K <= %@", ["modificationDate", past], []),
                ("creatorUserRecordID == %@", [user], everyone),
                ("creatorUserRecordID == %@", [me], everyone),
                ("creatorUserRecordID == %@", [stranger], []),
                ("lastModifiedUserRecordID == %@", [user], everyone),
                ("recordID == %@", [bob], ["Bob"]),
                ("recordID == %@", [eva], ["Eva"]),
                ("recordID IN %@", [[bob, eva.recordID]], ["Bob", "Eva"]),
                ("recordID != %@ AND age < 23", [bob], ["Ada", "Cleo"]),
            ]
            for (format, arguments, expected) in cases {
                let predicate = NSPredicate(format: format, argumentArray: arguments)
                let found = try await Self.names(matching: predicate, in: database)
                #expect(found == expected, "\(format), \(arguments)")
            }
        }
    }

    // MARK: What is refused

    @Test(
        "A comparison that CloudKit does not know is refused before it is sent",
        arguments: CloudFixture.allCases
    )
    func comparisons(fixture: CloudFixture) async throws {
        try await expectRefusals(over: fixture) {
            let berlin = CLLocation(latitude: 52.5, longitude: 13.4)
            let distance = "distanceToLocation:fromLocation:(home, %@)"
            return [
                Refusal("name MATCHES 'A.*'", at: 6),
                Refusal("name LIKE[c] 'a*'", at: 6),
                Refusal("NONE tags == 'odd'", at: 11),
                Refusal("ANY tags > 'odd'", at: 10),
                Refusal("ANY tags != 'odd'", at: 10),
                Refusal("SOME tags ENDSWITH 'd'", at: 11),
                Refusal("NOT self CONTAINS 'red'", at: 10),
                Refusal("tags.@count == 2", at: 1),
                Refusal("name == $name", at: 9),
                Refusal("\(distance) > %f", [berlin, 1000.0], at: 44),
                Refusal("\(distance) >= %f", [berlin, 1000.0], at: 44),
                Refusal("\(distance) == %f", [berlin, 1000.0], at: 44),
                Refusal("NOT (\(distance) < %f)", [berlin, 1000.0], at: 49),
            ]
        }
    }

    @Test(
        "An option that a comparison would lose is refused before it is sent",
        arguments: CloudFixture.allCases
    )
    func options(fixture: CloudFixture) async throws {
        try await expectRefusals(over: fixture) {
            [
                Refusal("name ==[c] 'ada'", at: 6),
                Refusal("name !=[c] 'ada'", at: 6),
                Refusal("name <[d] 'b'", at: 6),
                Refusal("'ada' ==[c] name", at: 7),
                Refusal("name BEGINSWITH[cd] 'a'", at: 6),
                Refusal("name IN[c] {'ada', 'bob'}", at: 6),
                Refusal("name BETWEEN[c] {'a', 'c'}", at: 6),
                Refusal("tags CONTAINS[d] 'odd'", at: 6),
                Refusal("ANY tags ==[c] 'odd'", at: 10),
                Refusal("NOT name ==[c] 'ada'", at: 10),
                Refusal("self CONTAINS[c] 'red' AND name ==[c] 'ada'", at: 33),
            ]
        }
    }

    @Test("Options count where a predicate is evaluated in memory")
    func optionsInMemory() throws {
        let ada = try #require(Self.people().first)
        #expect(NSPredicate(format: "name ==[c] 'ADA'").evaluate(with: ada))
        #expect(NSPredicate(format: "name BEGINSWITH[c] 'a'").evaluate(with: ada))
        #expect(!NSPredicate(format: "name == 'ADA'").evaluate(with: ada))
        #expect(!NSPredicate(format: "name BEGINSWITH 'a'").evaluate(with: ada))
    }

    @Test(
        "A value that no query compares with is refused before it is sent",
        arguments: CloudFixture.allCases
    )
    func arguments(fixture: CloudFixture) async throws {
        try await expectRefusals(over: fixture) {
            let asset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/nothing"))
            return [
                Refusal("name == %@", [asset], at: 9),
                Refusal("name IN %@", [[asset]], at: 9),
                Refusal("name == %@", [UUID()], at: 9),
                Refusal("name IN %@", [[UUID()]], at: 9),
                Refusal("name == %@", [Self.zone.zoneID], at: 9),
                Refusal("name IN %@", [["Ada", 1] as [Any]], at: 9),
                Refusal("name == %@", [["Ada", "Bob"]], at: 9),
                Refusal("age == %@", [UInt64.max], at: 8),
                Refusal("age == %@", [Double.infinity], at: 8),
                Refusal("name == %@", [NSNull()], at: 9),
                Refusal("name BEGINSWITH %@", [1], at: 17),
            ]
        }
    }

    @Test(
        "Too few and too many arguments are refused before anything is sent",
        arguments: CloudFixture.allCases
    )
    func counts(fixture: CloudFixture) async throws {
        try await expectRefusals(over: fixture) {
            [
                Refusal("name == %@", [], at: 9),
                Refusal("name == %@ AND age == %d", ["Ada"], at: 23),
                Refusal("name == %@", ["Ada", "Bob"], at: 11),
                Refusal("age == 20", [20], at: 10),
                Refusal("%K == 20", [20], at: 1),
            ]
        }
    }

    @Test(
        "Compounds and closures that CloudKit does not know are refused before they are sent",
        arguments: CloudFixture.allCases
    )
    func foreignPredicates(fixture: CloudFixture) async throws {
        try await expectRefusals(over: fixture) {
            let young = NSPredicate(format: "age < 22")
            let odd = NSPredicate(format: "tags CONTAINS 'odd'")
            let either = NSCompoundPredicate(orPredicateWithSubpredicates: [young, odd])
            let both = NSCompoundPredicate(andPredicateWithSubpredicates: [young, odd])
            return [
                Refusal(either, saying: "OR"),
                Refusal(
                    NSCompoundPredicate(andPredicateWithSubpredicates: [young, either]),
                    saying: "OR"
                ),
                Refusal(
                    NSCompoundPredicate(notPredicateWithSubpredicate: both),
                    saying: "negate"
                ),
                Refusal(NSPredicate(block: { _, _ in true }), saying: "closure"),
            ]
        }
    }

    /// A predicate, and the message of the error of a query with it.
    private struct Refusal {
        let predicate: NSPredicate
        let text: String

        init(_ predicate: NSPredicate, saying text: String) {
            self.predicate = predicate
            self.text = text
        }

        /// Creates a refusal; the position is counted from 1, and nil if the format as a whole is
        /// refused.
        init(_ format: String, _ arguments: [Any] = [], at place: Int?) {
            predicate = NSPredicate(format: format, argumentArray: arguments)
            text = place.map { "\"\(format)\", character \($0):" } ?? "\"\(format)\":"
        }
    }

    /// Expects that queries fail with `invalidArguments` and send no request.
    private func expectRefusals(
        over fixture: CloudFixture,
        of refusals: @Sendable () -> [Refusal]
    ) async throws {
        try await fixture.run { cloud in
            let transport = ScriptedTransport()
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user, transport: transport.over)
            try await Self.fill(database)
            func sent() -> Int { transport.requests(about: "records/query").count }
            for refusal in refusals() {
                let error = await expectCKError(.invalidArguments) {
                    try await Self.names(matching: refusal.predicate, in: database)
                }
                let text = error?.localizedDescription ?? ""
                #expect(text.contains(refusal.text), "\(text)")
                #expect(sent() == 0, "\(refusal.text)")
            }
            _ = try await Self.names(matching: NSPredicate(format: "age == 20"), in: database)
            #expect(sent() == 1)
        }
    }
}
