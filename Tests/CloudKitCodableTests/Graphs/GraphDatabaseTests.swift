import CloudKit
import CloudKitCodable
import Foundation
import CloudKitTesting
import Support
import Testing

@Suite("Graphs in a database")
struct GraphDatabaseTests {
    let zoneID = CKRecordZone.ID(zoneName: "World")

    private func database(_ cloud: Cloud, _ user: TestCloud.User) async throws -> CKDatabase {
        let database = try await cloud.database(of: user)
        try await database.save(CKRecordZone(zoneID: zoneID))
        return database
    }

    @Test(
        "What one device saves another loads, and reads from the zone's changes",
        arguments: CloudFixture.allCases
    )
    func twoDevices(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await database(cloud, user)
            let laptop = try await cloud.database(of: user)
            let atlas = Atlas.sample(countries: 30, timeZones: 10)
            let progress = Progress(totalUnitCount: 0)
            let saved = try await phone.save(atlas, in: zoneID, progress: progress)
            #expect(progress.completedUnitCount == 331 && progress.totalUnitCount == 331)
            #expect(saved.records.count == 331)
            #expect(saved.records.allSatisfy { $0.recordChangeTag != nil })

            let loaded = try await laptop.graph(Atlas.self, for: saved.rootID)
            #expect(loaded.root == atlas)

            var records: [CKRecord] = []
            var token: CKServerChangeToken?
            var moreComing = true
            while moreComing {
                let page = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: token)
                records += try page.modificationResultsByID.values.map { try $0.get().record }
                (token, moreComing) = (page.changeToken, page.moreComing)
            }
            let decoded = try CloudKitGraphDecoder().decode(
                Atlas.self,
                from: records,
                root: saved.rootID
            )
            #expect(decoded == atlas)
        }
    }

    @Test(
        "An edited graph sends exactly the record that changed, onto the version it came from",
        arguments: CloudFixture.allCases
    )
    func edit(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await database(cloud, user)
            let laptop = try await cloud.database(of: user)
            var mine = try await phone.save(Atlas.sample(), in: zoneID)
            let token = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: nil)
                .changeToken
            mine.root.countries[1].timeZones[0].comments = "changed"
            try await phone.save(&mine)
            let news = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: token)
            #expect(news.modificationResultsByID.keys.map(\.recordName) == ["zone-Area1-City0"])

            var theirs = try await laptop.graph(Atlas.self, for: mine.rootID)
            #expect(theirs.root == mine.root)
            mine.root.countries[0].name = "Mine"
            theirs.root.countries[0].name = "Theirs"
            try await laptop.save(&theirs)
            let error = await #expect(throws: CKError.self) { try await phone.save(&mine) }
            #expect(error?.code == .serverRecordChanged)
            #expect(error?.serverRecord?["name"] == "Theirs")
        }
    }

    @Test(
        "A save whose response was lost can be repeated, and a foreign change is a conflict all the same",
        arguments: CloudFixture.allCases
    )
    func lostResponse(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await database(cloud, user)
            var graph = try await phone.save(Atlas.sample(), in: zoneID)
            func loseOne() {
                let rule = FaultRule(.lostResponse, operation: "records/modify", call: 1)
                cloud.setFaults(FaultPlan(rules: [rule]))
            }
            // One new record, and two known ones.
            graph.root.countries[0].name = "Here"
            graph.root.countries[1].timeZones.append(
                TimeZoneEntry(name: "new", coordinate: CLLocation(latitude: 1, longitude: 2))
            )
            loseOne()
            await #expect(throws: CKError.self) { try await phone.save(&graph) }
            let laptop = try await cloud.database(of: user)
            #expect(try await laptop.graph(Atlas.self, for: graph.rootID).root == graph.root)
            try await phone.save(&graph)
            graph.root.countries[0].name = "There"
            try await phone.save(&graph)

            graph.root.countries[0].name = "Mine"
            loseOne()
            await #expect(throws: CKError.self) { try await phone.save(&graph) }
            var theirs = try await laptop.graph(Atlas.self, for: graph.rootID)
            theirs.root.countries[0].timeZones = []
            try await laptop.save(&theirs)
            let error = await #expect(throws: CKError.self) { try await phone.save(&graph) }
            #expect(error?.code == .serverRecordChanged)
        }
    }

    @Test("Models that a value reaches no more are deleted when asked for")
    func orphans() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await database(cloud, try await cloud.addUser())
            var graph = try await database.save(Atlas.sample(), in: zoneID)
            let count = graph.records.count
            let gone = graph.root.countries.removeLast()
            try await database.save(&graph)
            #expect(graph.records.count == count)
            try await database.save(&graph, deletingOrphans: true)
            #expect(graph.records.count == count - 3)
            let goneID = CKRecord.ID(recordName: gone.recordName, zoneID: zoneID)
            let error = await #expect(throws: CKError.self) {
                try await database.record(for: goneID)
            }
            #expect(error?.code == .unknownItem)
            #expect(try await database.graph(Atlas.self, for: graph.rootID).root == graph.root)
        }
    }

    @Test(
        "Children that refer to their owner are found by queries, however many there are",
        arguments: CloudFixture.allCases
    )
    func childrenQuery(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await database(cloud, user)
            let script = ScriptedTransport()
            let laptop = try await cloud.database(of: user, transport: script.over)
            // More than one page of a query, and one more in a second album's list.
            let photos = (0..<250).map { Photo(id: "photo\($0)") }
            let album = Album(id: "album", title: "Summer", photos: photos)
            let rootID = try await phone.save(album, in: zoneID).rootID
            let other = Album(id: "other", title: "Winter", photos: [Photo(id: "snow")])
            try await phone.save(other, in: zoneID)
            let graph = try await laptop.graph(Album.self, for: rootID)
            #expect(graph.root == album)
            #expect(graph.records.count == 251)
            #expect(script.requests(about: "records/lookup").count == 1)
            #expect(script.requests(about: "records/query").count > 1)
        }
    }

    @Test(
        "Children that refer to their owner are found, in their order, and go with it",
        arguments: CloudFixture.allCases
    )
    func children(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await database(cloud, try await cloud.addUser())
            let album = Album(
                id: "album",
                title: "Summer",
                photos: (0..<5).map { Photo(id: "photo\(5 - $0)") }
            )
            let graph = try await database.save(album, in: zoneID)
            #expect(try await database.graph(Album.self, for: graph.rootID).root == album)
            #expect(graph.records.first?.recordID == graph.rootID)
            #expect(graph.records.last?.parent?.recordID == graph.rootID)
            let source = MemorySource(graph.records)
            #expect(try await source.graph(Album.self, for: graph.rootID).root == album)
            #expect(source.requests == [1, 1])
            try await database.delete(graph)
            let results = try await database.records(for: graph.records.map(\.recordID))
            #expect(results.count == 6 && results.values.allSatisfy { (try? $0.get()) == nil })
        }
    }

    struct Chapter: CloudKitModel, Equatable {
        var id: String
        var recordName: String { id }
    }

    struct Novel: CloudKitModel, Equatable {
        var id: String
        var chapters: [Chapter]
        var recordName: String { id }

        static var fields: CloudKitFields {
            [CodingKeys.chapters: .children(via: "novel", .deleteSelf)]
        }
    }

    @Test(
        "Children that are to go with their owner do, and those of the default stay",
        arguments: CloudFixture.allCases
    )
    func cascade(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await database(cloud, try await cloud.addUser())
            let novel = Novel(id: "novel", chapters: (0..<3).map { Chapter(id: "chapter\($0)") })
            let graph = try await database.save(novel, in: zoneID)
            try await database.deleteRecord(withID: graph.rootID)
            let results = try await database.records(for: graph.records.map(\.recordID))
            #expect(results.count == 4 && results.values.allSatisfy { (try? $0.get()) == nil })

            let box = SameNameTests.Box(name: "box", things: [.init(name: "mark", text: "")])
            let kept = try await database.save(box, in: zoneID)
            try await database.deleteRecord(withID: kept.rootID)
            let mark = CKRecord.ID(recordName: "mark", zoneID: zoneID)
            #expect(try await database.record(for: mark)["box"] as CKRecord.Reference? != nil)
        }
    }

    struct Attachment: CloudKitModel, Sendable {
        var id = "attachment"
        @CloudKitValue var file: CKAsset
        var recordName: String { id }
    }

    struct Scan: CloudKitModel, Sendable {
        var pixels: Data
        var recordName: String { "scan" }
        enum CodingKeys: CodingKey { case pixels }
        static var fields: CloudKitFields { [CodingKeys.pixels: .asset] }
    }

    @Test(
        "An asset whose file is gone is an error that names record and field, both ways",
        arguments: CloudFixture.allCases
    )
    func missingFile(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await database(cloud, try await cloud.addUser())
            let nowhere = CKAsset(fileURL: URL(filePath: "/nowhere/at/all"))
            let error = await expectCKError(.assetFileNotFound) {
                try await database.save(Attachment(file: nowhere), in: zoneID)
            }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("Record attachment") && text.contains("field file"))

            let scan = Scan(pixels: Data([1, 2, 3]))
            let rootID = try await database.save(scan, in: zoneID).rootID
            let graph = try await database.graph(Scan.self, for: rootID)
            #expect(graph.root.pixels == scan.pixels)
            let asset: CKAsset? = graph.records.first?["pixels"]
            try FileManager.default.removeItem(at: #require(asset?.fileURL))
            let unreadable = #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphDecoder().decode(Scan.self, from: graph.records, root: rootID)
            }
            #expect(unreadable?.recordID == rootID)
            #expect(unreadable?.codingPath.map(\.stringValue) == ["pixels"])
        }
    }

    @Test(
        "A reference to a record of another type is an error that names both types",
        arguments: CloudFixture.allCases
    )
    func otherType(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await database(cloud, try await cloud.addUser())
            let graph = try await database.save(Atlas.sample(countries: 1), in: zoneID)
            let root = try await database.record(for: graph.rootID)
            let zone = graph.records.first { $0.recordType == "TimeZoneEntry" }
            let target = try #require(zone).recordID
            root["countries"] = [CKRecord.Reference(recordID: target, action: .none)]
            try await database.save(root)
            let error = await #expect(throws: CloudKitGraphError.self) {
                try await database.graph(Atlas.self, for: graph.rootID)
            }
            #expect(error?.code == .unexpectedType)
            #expect(error?.recordID == target)
            #expect(error?.codingPath.map(\.stringValue) == ["countries", "Index 0"])
            #expect(error?.message.contains("type Country") == true)
            #expect(error?.message.contains("type TimeZoneEntry") == true)
        }
    }
}
