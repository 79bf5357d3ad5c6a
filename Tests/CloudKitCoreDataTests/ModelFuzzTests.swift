import CloudKitCodable
import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data models: bytes from outside", .timeLimit(.minutes(10)))
struct ModelFuzzTests {
    /// Reads a model, which may be refused; one that is accepted must work with all operations.
    private func use(_ read: () throws -> CoreDataModel) throws -> Bool {
        let model: CoreDataModel
        do {
            model = try read()
        } catch is CoreDataModelError {
            return false
        }
        _ = try model.findings()
        _ = model.changes(to: model)
        for entity in model.entities { _ = model.attributes(of: entity) }
        do {
            let text = try CloudKitSchema(mirroring: model).text
            #expect(try model.schemaDifferences(deployed: text).allSatisfy { $0.severity == .note })
        } catch is CoreDataModelError {}
        return true
    }

    @Test(
        "No change of bytes in a model's file ends the process, and none is taken for another error"
    )
    func contents() throws {
        let whole = try Data(
            contentsOf: Fixture.url("App.xcdatamodeld/App 2.xcdatamodel/contents")
        )
        var changes = ByteChanges(state: 26)
        var readable = 0
        for _ in 0..<1500 {
            let data = changes.change(whole)
            if try use({ try Fixture.read(data) }) { readable += 1 }
        }
        #expect(readable > 10)
        #expect(readable < 1500)
    }

    @Test("No change of bytes in an archived model ends the process")
    func archives() throws {
        let whole = try Data(contentsOf: Fixture.url("Trips.mom"))
        var changes = ByteChanges(state: 2026)
        var readable = 0
        for _ in 0..<3000 {
            let data = changes.change(whole)
            if try use({ try CoreDataModel(archived: data) }) { readable += 1 }
        }
        #expect(readable > 10)
        #expect(readable < 3000)
    }

    @Test("No change of bytes in a store's copy of its model ends the process, or fills the memory")
    func caches() throws {
        try Fixture.inFolder { folder in
            let file = folder.appendingPathComponent("changed.store")
            try FileManager.default.copyItem(at: Fixture.url("Trips.store"), to: file)
            let database = try DatabaseQueue(path: file.path)
            let whole = try database.read {
                try #require(try Data.fetchOne($0, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE"))
            }
            var changes = ByteChanges(state: 31)
            var readable = 0
            for round in 0..<600 {
                // The whole one comes first.
                let data = round == 0 ? whole : changes.change(whole)
                try database.write {
                    try $0.execute(sql: "UPDATE Z_MODELCACHE SET Z_CONTENT = ?", arguments: [data])
                }
                if try use({ try CoreDataModel(cachedInStoreAt: file) }) { readable += 1 }
            }
            #expect(readable > 0)
            #expect(readable < 600)
        }
    }

    @Test("No change of bytes in a store ends the process")
    func stores() throws {
        let whole = try Data(contentsOf: Fixture.url("Trips.store"))
        var changes = ByteChanges(state: 7)
        try Fixture.inFolder { folder in
            let file = folder.appendingPathComponent("changed.store")
            for _ in 0..<150 {
                try changes.change(whole).write(to: file)
                _ = try use { try CoreDataModel(cachedInStoreAt: file) }
            }
        }
    }
}
