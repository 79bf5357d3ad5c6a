import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Graphs of which a part is saved")
struct PartialSaveTests {
    struct Sheet: CloudKitModel, Equatable {
        var id: String
        var text: String
        var scan: Data

        var recordName: String { id }

        static var fields: CloudKitFields { [CodingKeys.scan: .asset] }
    }

    struct Folder: CloudKitModel, Equatable {
        var sheets: [Sheet]

        var recordName: String { "folder" }
    }

    let zoneID = CKRecordZone.default().zoneID

    private var folder: Folder {
        Folder(
            sheets: ["a", "b", "c"].map { Sheet(id: $0, text: "", scan: Data($0.utf8)) }
        )
    }

    private func tags(_ graph: CloudKitGraph<Folder>) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: graph.records.map {
                ($0.recordID.recordName, $0.recordChangeTag ?? "none")
            }
        )
    }

    @Test(
        "In the default zone a graph takes what was saved beside a conflict, files too",
        arguments: CloudFixture.allCases
    )
    func besideConflict(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let laptop = try await cloud.database(of: user)
            var graph = try await phone.save(folder, in: zoneID)
            var theirs = try await laptop.graph(Folder.self, for: graph.rootID)
            theirs.root.sheets[1].text = "theirs"
            try await laptop.save(&theirs)

            let before = tags(graph)
            for index in 0..<3 {
                graph.root.sheets[index].text = "mine"
                graph.root.sheets[index].scan += [1]
            }
            let progress = Progress(totalUnitCount: 0)
            let error = await #expect(throws: CKError.self) {
                try await phone.save(&graph, progress: progress)
            }
            #expect(error?.code == .serverRecordChanged)
            let newer = try #require(error?.serverRecord)
            #expect(newer.recordID.recordName == "b")
            #expect(progress.completedUnitCount == 2 && progress.totalUnitCount == 3)
            let changed = tags(graph).filter { before[$0.key] != $0.value }
            #expect(changed.keys.sorted() == ["a", "c"])
            #expect(try await laptop.graph(Folder.self, for: graph.rootID).root != graph.root)

            let known = graph.records.filter { $0.recordID != newer.recordID } + [newer]
            let again = Progress(totalUnitCount: 0)
            graph = try await phone.save(graph.root, in: zoneID, onto: known, progress: again)
            #expect(again.totalUnitCount == 1)
            #expect(try await laptop.graph(Folder.self, for: graph.rootID).root == graph.root)
        }
    }

    @Test(
        "In the default zone a value whose record was refused is saved again as it is, files too",
        arguments: CloudFixture.allCases
    )
    func sameValueAgain(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let laptop = try await cloud.database(of: user)
            let other = Sheet(id: "b", text: "other", scan: Data("b".utf8))
            try await laptop.save(other, in: zoneID)
            // No graph is kept: only the value remains.
            let error = await #expect(throws: CKError.self) {
                try await phone.save(folder, in: zoneID)
            }
            let newer = try #require(error?.serverRecord)
            #expect(newer.recordID.recordName == "b")
            let text = try #require(error?.localizedDescription)
            #expect(text.contains(/\.\ The server has the record b, which/))
            #expect(!text.contains(".."))
            let graph = try await phone.save(folder, in: zoneID, onto: [newer])
            #expect(try await laptop.graph(Folder.self, for: graph.rootID).root == folder)

            // A file that another device changed is a conflict all the same.
            var edited = folder
            edited.sheets[0].scan = Data("A".utf8)
            let conflict = await #expect(throws: CKError.self) {
                try await phone.save(edited, in: zoneID)
            }
            #expect(conflict?.serverRecord?.recordID.recordName == "a")
        }
    }

    @Test(
        "A save with files whose response was lost can be repeated",
        arguments: CloudFixture.allCases
    )
    func lostResponse(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let zone = try await phone.save(CKRecordZone(zoneName: "Sheets"))
            let rule = FaultRule(.lostResponse, operation: "records/modify", call: 1)
            cloud.setFaults(FaultPlan(rules: [rule]))
            await #expect(throws: CKError.self) { try await phone.save(folder, in: zone.zoneID) }
            var graph = try await phone.save(folder, in: zone.zoneID)
            graph.root.sheets[0].scan += [1]
            cloud.setFaults(FaultPlan(rules: [rule]))
            await #expect(throws: CKError.self) { try await phone.save(&graph) }
            try await phone.save(&graph)
            let laptop = try await cloud.database(of: user)
            #expect(try await laptop.graph(Folder.self, for: graph.rootID).root == graph.root)
        }
    }
}
