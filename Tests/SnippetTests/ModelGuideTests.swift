#if Macros
import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

// The models come from the guide's code blocks.
@Suite("What the guide to models shows")
struct ModelGuideTests {
    private func run(
        _ fixture: CloudFixture,
        _ body: @escaping @Sendable (CKDatabase, CKRecordZone) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await body(
                database,
                try await database.save(CKRecordZone(zoneName: "Practice"))
            )
        }
    }

    @Test("One struct, its queries and one field of it", arguments: CloudFixture.allCases)
    func oneStruct(fixture: CloudFixture) async throws {
        try await run(fixture) { database, zone in
            var soup = Recipe(
                id: UUID(),
                title: "Soup",
                cooked: Date(timeIntervalSinceReferenceDate: 1),
                tags: ["quick"]
            )
            let record = try CloudKitRecordEncoder(zoneID: zone.zoneID).encode(soup)
            #expect(try CloudKitRecordDecoder().decode(Recipe.self, from: record) == soup)
            let saved = try await database.save(record)
            (soup.servings, soup.tags) = (6, ["quick", "hot"])
            try CloudKitRecordEncoder().encode(soup, onto: saved)
            #expect(Set(saved.changedKeys()) == ["servings", "tags"])
            let edited = try await database.save(saved)
            #expect(try CloudKitRecordDecoder().decode(Recipe.self, from: edited) == soup)

            let query = try Recipe.query(
                where: \.title == "Soup" && \.servings > 2 && .field(\.tags, contains: "quick"),
                sort: [.descending(\.cooked), .ascending(.creationDate)]
            )
            let (matches, cursor) = try await database.records(
                matching: query,
                inZoneWith: zone.zoneID,
                desiredKeys: try Recipe.desiredKeys(\.title, \.servings, \.tags)
            )
            let titles = try matches.map { try $0.1.get().value(of: Recipe.Fields.title) }
            #expect(titles == ["Soup"] && cursor == nil)

            try edited.set("Stew", of: Recipe.Fields.title)
            let renamed = try await database.save(edited)
            #expect(try renamed.value(of: Recipe.Fields.title) == "Stew")
            #expect(try renamed.value(of: Recipe.Fields.cooked) == soup.cooked)
        }
    }

    @Test("On to graphs", arguments: CloudFixture.allCases)
    func graphs(fixture: CloudFixture) async throws {
        try await run(fixture) { database, zone in
            let visit = Consultation(
                number: "2026-1",
                summary: "Check-up",
                patient: .init(id: "ada", name: "Ada")
            )
            let saved = try await database.save(visit, in: zone.zoneID)
            var loaded = try await database.graph(Consultation.self, for: saved.rootID)
            #expect(loaded.root == visit)
            loaded.root.patient.name = "Ada L."
            loaded.root.diagnosis = "none"
            loaded.root.scan = Data(count: 100_001)
            try await database.save(&loaded)
            var again = try await database.graph(Consultation.self, for: saved.rootID)
            #expect(again.root == loaded.root)
            (again.root.diagnosis, again.root.scan) = (nil, Data([1]))
            try await database.save(&again)
            #expect(
                try await database.graph(Consultation.self, for: saved.rootID).root == again.root
            )
        }
    }

    @Test("The list of properties is the schema")
    func schema() throws {
        let text = try CloudKitSchema(of: Recipe.self, Consultation.self).text
        for line in ["tags     LIST<STRING>", "scan_asset ASSET", "patient    REFERENCE"] {
            #expect(text.contains(line), "\(text)")
        }
    }
}
#endif
