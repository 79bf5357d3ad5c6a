import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Queries")
struct QueryTests {
    static let zone = CKRecordZone(zoneName: "People")

    /// Returns five people, with all fields that the predicates use.
    private func people() -> [CKRecord] {
        let places = [(52.5, 13.4), (48.1, 11.6), (53.5, 10.0), (52.4, 13.1), (50.9, 6.9)]
        return ["Ada", "Bob", "Cleo", "Dan", "Eva"].enumerated().map { index, name in
            let record = CKRecord(
                recordType: "Person",
                recordID: CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
            )
            record["name"] = name
            record["age"] = 20 + index
            record["tags"] = index.isMultiple(of: 2) ? ["even", "all"] : ["odd", "all"]
            record["home"] = CLLocation(
                latitude: places[index].0,
                longitude: places[index].1
            )
            return record
        }
    }

    @Test(
        "A predicate holds in memory for what it says",
        arguments: [
            ("TRUEPREDICATE", [], ["Ada", "Bob", "Cleo", "Dan", "Eva"]),
            ("FALSEPREDICATE", [], []),
            ("age >= 22", [], ["Cleo", "Dan", "Eva"]),
            ("22 < age", [], ["Dan", "Eva"]),
            ("age BETWEEN {21, 22}", [], ["Bob", "Cleo"]),
            ("NOT (age < 23)", [], ["Dan", "Eva"]),
            ("name == %@", ["Bob"], ["Bob"]),
            ("name != 'Bob' AND age < 23", [], ["Ada", "Cleo"]),
            ("name BEGINSWITH %@", ["E"], ["Eva"]),
            ("NOT name BEGINSWITH 'A'", [], ["Bob", "Cleo", "Dan", "Eva"]),
            ("name IN %@", [["Ada", "Eva", "Zoe"]], ["Ada", "Eva"]),
            ("tags CONTAINS 'odd'", [], ["Bob", "Dan"]),
            ("ANY tags == 'even'", [], ["Ada", "Cleo", "Eva"]),
            ("'odd' IN tags", [], ["Bob", "Dan"]),
            ("NOT tags CONTAINS 'odd'", [], ["Ada", "Cleo", "Eva"]),
            ("%K == %d", ["age", 20], ["Ada"]),
        ] as [(String, [any Sendable], [String])]
    )
    func memory(format: String, arguments: [any Sendable], expected: [String]) {
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        let matches = people().filter { predicate.evaluate(with: $0) }
        #expect(matches.map(\.recordID.recordName) == expected)
    }

    @Test("The service and memory agree on what predicates match", arguments: CloudFixture.allCases)
    func agreement(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            _ = try await database.modifyRecords(saving: people(), deleting: [])
            for format in [
                "TRUEPREDICATE", "age >= 22", "22 < age", "age BETWEEN {21, 22}", "NOT (age < 23)",
                "name == 'Bob'", "name != 'Bob' AND age < 23", "name BEGINSWITH 'E'",
                "NOT name BEGINSWITH 'A'", "name IN {'Ada', 'Eva', 'Zoe'}",
                "NOT name IN {'Ada', 'Eva'}", "tags CONTAINS 'odd'", "ANY tags == 'even'",
                "NOT tags CONTAINS 'odd'", "ANY tags IN {'odd', 'none'}",
                "ANY tags BEGINSWITH 'ev'", "recordID == 'Cleo'",
            ] {
                let predicate = NSPredicate(format: format)
                let query = CKQuery(recordType: "Person", predicate: predicate)
                query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let (matches, _) = try await database.records(
                    matching: query,
                    inZoneWith: Self.zone.zoneID
                )
                let found = try matches.map { try $0.1.get() }
                #expect(!found.isEmpty && found.allSatisfy { predicate.evaluate(with: $0) })
                let inMemory = people().filter { predicate.evaluate(with: $0) }
                #expect(found.map(\.recordID) == inMemory.map(\.recordID), "\(format)")
            }
        }
    }

    @Test("Words are searched in all fields that can be", arguments: CloudFixture.allCases)
    func words(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            _ = try await database.modifyRecords(saving: people(), deleting: [])
            for (format, expected) in [
                ("self CONTAINS 'cleo odd'", ["Bob", "Cleo", "Dan"]),
                ("self CONTAINS 'nobody'", []),
            ] {
                let query = CKQuery(
                    recordType: "Person",
                    predicate: NSPredicate(format: format)
                )
                let (matches, _) = try await database.records(
                    matching: query,
                    inZoneWith: Self.zone.zoneID
                )
                #expect(matches.map(\.0.recordName).sorted() == expected, "\(format)")
            }
        }
    }

    @Test("Distances find what is near, and sort it", arguments: CloudFixture.allCases)
    func distances(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            _ = try await database.modifyRecords(saving: people(), deleting: [])
            let berlin = CLLocation(latitude: 52.5, longitude: 13.4)
            let query = CKQuery(
                recordType: "Person",
                predicate: NSPredicate(
                    format: "distanceToLocation:fromLocation:(home, %@) < %f",
                    berlin,
                    300_000.0
                )
            )
            query.sortDescriptors = [
                CKLocationSortDescriptor(key: "home", relativeLocation: berlin)
            ]
            let (matches, _) = try await database.records(
                matching: query,
                inZoneWith: Self.zone.zoneID
            )
            #expect(matches.map(\.0.recordName) == ["Ada", "Dan", "Cleo"])
        }
    }

    /// Runs a test on a database whose queries return page after page, and then a refusal.
    private func run(
        _ fixture: CloudFixture,
        answering pages: [[String]],
        _ body: @Sendable (CKDatabase, ScriptedTransport) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let next = Mutex(0)
            let transport = ScriptedTransport { request, _ in
                guard request.isAbout("records/query") else { return nil }
                let page = next.withLock { next in
                    next += 1
                    return next - 1
                }
                guard page < pages.count else { return Self.refusal }
                return Self.page(pages[page], next: page + 1 < pages.count ? page + 1 : nil)
            }
            let device = try await cloud.device(
                of: try await cloud.addUser(),
                transport: transport.over
            )
            try await body(device.privateCloudDatabase, transport)
        }
    }

    private static let refusal = TransportResponse.refusal(
        400,
        #"{"serverErrorCode":"BAD_REQUEST","reason":"Did not find record type: X"}"#
    )

    /// Returns a page of people with the number of the next page, if there is one, as the marker.
    private static func page(_ names: [String], next: Int?) -> TransportResponse {
        let records = names.map {
            #"{"recordName":"\#($0)","recordType":"Person","fields":{},"recordChangeTag":"1"}"#
        }
        let marker = next.map { #","continuationMarker":"\#($0)""# } ?? ""
        return .ok(#"{"records":[\#(records.joined(separator: ","))]\#(marker)}"#)
    }

    @Test(
        "Pages follow one another through cursors, which can be archived",
        arguments: CloudFixture.allCases
    )
    func cursors(fixture: CloudFixture) async throws {
        let pages = [["Eva", "Dan"], [], ["Ada"]]
        try await run(fixture, answering: pages) { database, transport in
            let query = CKQuery(
                recordType: "Person",
                predicate: NSPredicate(format: "age > %@ AND NOT tags CONTAINS 'x'", 3)
            )
            query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
            var (matches, cursor) = try await database.records(matching: query, resultsLimit: 2)
            var names = matches.map(\.0.recordName)
            while let next = cursor {
                let archive = try NSKeyedArchiver.archivedData(
                    withRootObject: next,
                    requiringSecureCoding: true
                )
                let read = try #require(
                    try NSKeyedUnarchiver.unarchivedObject(
                        ofClass: CKQueryOperation.Cursor.self,
                        from: archive
                    )
                )
                #expect(read == next)
                (matches, cursor) = try await database.records(continuingMatchFrom: read)
                names += matches.map(\.0.recordName)
            }
            #expect(names == ["Eva", "Dan", "Ada"])
            let bodies = transport.requests(about: "records/query").map { request in
                let body = try? JSONSerialization.jsonObject(with: request.body ?? Data())
                return body as? [String: Any] ?? [:]
            }
            #expect(bodies.map { $0["continuationMarker"] as? String } == [nil, "1", "2"])
            let filters = bodies.map { body in
                ((body["query"] as? [String: Any])?["filterBy"] as? [[String: Any]] ?? [])
                    .map { $0["comparator"] as? String ?? "" }
            }
            #expect(filters == Array(repeating: ["GREATER_THAN", "NOT_LIST_CONTAINS"], count: 3))
            let sorts = (bodies[0]["query"] as? [String: Any])?["sortBy"] as? [[String: Any]]
            #expect(sorts?.first?["systemFieldName"] as? String == "createdTimestamp")
            #expect(bodies[0]["zoneWide"] as? Bool == true)
        }
    }

    @Test(
        "A query operation reports records in order, and its cursor",
        arguments: CloudFixture.allCases
    )
    func operation(fixture: CloudFixture) async throws {
        try await run(fixture, answering: [["Ada", "Bob"], ["Cleo"]]) { database, _ in
            let query = CKQuery(recordType: "Person", predicate: NSPredicate(value: true))
            let operation = CKQueryOperation(query: query)
            let log = Log()
            operation.recordMatchedBlock = { recordID, _ in log.note(recordID.recordName) }
            operation.queryResultBlock = { result in
                log.note(((try? result.get()) ?? nil) == nil ? "end" : "cursor")
            }
            await finish([operation], on: database)
            #expect(log.all == ["Ada", "Bob", "cursor"])
        }
    }

    @Test("A predicate that matches nothing sends no request", arguments: CloudFixture.allCases)
    func nothing(fixture: CloudFixture) async throws {
        try await run(fixture, answering: []) { database, transport in
            for format in ["FALSEPREDICATE", "name IN {}"] {
                let (matches, cursor) = try await database.records(
                    matching: CKQuery(recordType: "Person", predicate: NSPredicate(format: format))
                )
                #expect(matches.isEmpty && cursor == nil)
            }
            #expect(transport.requests(about: "records/query").isEmpty)
        }
    }

    @Test(
        "A query on a type that does not exist fails with unknownItem",
        arguments: CloudFixture.allCases
    )
    func unknownType(fixture: CloudFixture) async throws {
        try await run(fixture, answering: []) { database, _ in
            await expectCKError(.unknownItem) {
                try await database.records(
                    matching: CKQuery(recordType: "Nobody", predicate: NSPredicate(value: true))
                )
            }
        }
    }

    /// A predicate that a query cannot express, and the position of the unsupported part.
    struct Unsayable: Sendable, CustomTestStringConvertible {
        let format: String
        let place: String
        var testDescription: String { format }
    }

    static let unsayable: [Unsayable] = [
        Unsayable(format: "age > 1 OR age < 0", place: "character 9"),
        Unsayable(format: "name LIKE 'A*'", place: "character 6"),
        Unsayable(format: "name ENDSWITH 'a'", place: "character 6"),
        Unsayable(format: "ALL tags == 'x'", place: "character 10"),
        Unsayable(format: "home.latitude == 1", place: "character 1"),
        Unsayable(format: "age == nil", place: "character 8"),
        Unsayable(format: "NOT (age BETWEEN {1, 2})", place: "character 10"),
        Unsayable(format: "NOT (age > 1 AND age < 3)", place: "character 1"),
        Unsayable(format: "age >", place: "character 6"),
        Unsayable(format: "age ~ 3", place: "character 5"),
        Unsayable(format: "name == 'x", place: "character 9"),
        Unsayable(format: "age == name", place: "character 8"),
        Unsayable(format: "_age == 1", place: "character 1"),
    ]

    @Test(
        "What CloudKit's queries cannot say is refused with its place",
        arguments: CloudFixture.allCases,
        unsayable
    )
    func refused(_ fixture: CloudFixture, _ unsayable: Unsayable) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let error = await expectCKError(.invalidArguments) {
                try await database.records(
                    matching: CKQuery(
                        recordType: "Person",
                        predicate: NSPredicate(format: unsayable.format)
                    )
                )
            }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("\"\(unsayable.format)\", \(unsayable.place):"), "\(text)")
        }
    }
}
