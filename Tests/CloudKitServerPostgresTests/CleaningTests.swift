#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitWire
import Foundation
import PostgresFixtures
import ServerFixtures
import Testing

@Suite(
    "Cleaning by several PostgreSQL nodes",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct CleaningTests {
    @Test("Nodes that clean at the same time remove what is old once, and nothing else")
    func together() async throws {
        let world = try await AssetWorld(nodes: 2)
        var configuration = ServiceConfiguration()
        configuration.tombstoneSeconds = 86_400
        var clouds: [FixtureCloud] = []
        for node in world.nodes {
            clouds.append(
                try await FixtureCloud(
                    configuration: configuration,
                    storage: node,
                    assets: node.assetStorage()
                )
            )
        }
        var ada = try await clouds[0].addUser()
        try await clouds[0].addZone("Notes", as: ada)
        func modify(_ kind: String, _ prefix: String, _ range: Range<Int>) async throws {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 200) {
                let names = (start..<min(start + 200, range.upperBound)).map { "\(prefix)\($0)" }
                let response = try await clouds[0].modify(
                    as: ada,
                    names.map { FixtureCloud.note(kind, $0, ["n": ["value": 1]]) }
                )
                try #require(response.records.allSatisfy { $0.serverErrorCode == nil })
            }
        }
        try await modify("create", "old", 0..<700)
        try await modify("create", "kept", 0..<50)
        let photo = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
        let receipt = try await clouds[0].upload(photo, for: "photo", as: ada)
        let saved = try await clouds[0].modify(
            as: ada,
            [FixtureCloud.note("create", "photo", ["photo": receipt])]
        )
        try #require(saved.records[0].serverErrorCode == nil)
        for number in 0..<8 as Range<UInt8> {
            _ = try await clouds[0].upload(Data([number]), for: "none\(number)", as: ada)
        }
        try await modify("forceDelete", "old", 0..<700)
        #expect(try world.sql("SELECT count(*) FROM record WHERE is_deleted") == "700")
        #expect(try world.counts() == [9, 0, 10])
        let horizon = "SELECT max(horizon_sequence) FROM zone"
        let newest = try world.sql("SELECT max(sequence) FROM record")

        for cloud in clouds { cloud.outliveFiles() }
        ada = try await clouds[0].again(ada)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask { [cloud = clouds[number % 2]] in try await cloud.service.clean() }
            }
            // Requests go on meanwhile.
            group.addTask { [cloud = clouds[1], ada] in
                for number in 0..<20 {
                    let operation = FixtureCloud.note("create", "new\(number)")
                    let response = try await cloud.modify(as: ada, [operation])
                    #expect(response.records[0].serverErrorCode == nil, "\(response.body)")
                }
            }
            try await group.waitForAll()
        }
        #expect(try world.sql("SELECT count(*) FROM record WHERE is_deleted") == "0")
        #expect(try world.sql("SELECT count(*) FROM record") == "71")
        #expect(try world.sql(horizon) == newest)
        #expect(
            try world.sql("SELECT count(*) FROM document WHERE collection LIKE 'upload/%'") == "0"
        )
        #expect(try world.counts() == [1, 0, 2])
        let now = clouds[0].clock.milliseconds
        #expect(try world.sql("SELECT count(*) FROM credential WHERE expires < \(now)") == "0")
        for cloud in clouds {
            #expect(try await cloud.service.check().findings == [])
            let found = try await cloud.lookUp(["photo"], as: ada)
            let url = found.records[0].fields.photo.value.downloadURL
            #expect(try await cloud.download(url) == photo)
        }
    }
}
#endif
