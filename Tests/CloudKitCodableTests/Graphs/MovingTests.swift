import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("What moves between two graphs is edited in the same step")
struct MovingTests {
    struct Head: CloudKitModel, Equatable, Identifiable {
        var id: String
        var limbs: [Limb] = []
        var spares: [Toe] = []
        static var fields: CloudKitFields { [CodingKeys.limbs: .children(via: "head")] }
    }

    struct Limb: CloudKitModel, Equatable, Identifiable {
        var id: String
        var toes: [Toe] = []
        var big: Toe?
        static var fields: CloudKitFields {
            [
                CodingKeys.toes: .children(via: "limb", isHierarchy: true),
                CodingKeys.big: .children(via: "bigOf"),
            ]
        }
    }

    struct Toe: CloudKitModel, Equatable, Identifiable {
        var id: String
        var nails: [Nail] = []
        static var fields: CloudKitFields { [CodingKeys.nails: .children(via: "toe")] }
    }

    struct Nail: CloudKitModel, Equatable, Identifiable {
        var id: String
    }

    enum Edit: CaseIterable {
        case removes, removesDeep, clears, replaces, staysBehind, becomesAnother, movesWithin
    }

    private static func apply(_ edit: Edit, _ leg: inout Limb, _ old: inout Head) {
        switch edit {
        case .removes: leg.toes.removeFirst()
        case .removesDeep: leg.toes[1].nails.removeFirst()
        case .clears: leg.big = nil
        case .replaces: leg.big = Toe(id: "zzz")
        case .staysBehind: old.limbs[0].toes.append(leg.toes.removeFirst())
        case .becomesAnother: old.limbs[0].big = leg.toes.removeFirst()
        case .movesWithin: (leg.big, leg.toes) = (leg.toes[0], [leg.toes[1]])
        }
    }

    @Test(
        "What is edited there is what is loaded, whichever is saved first",
        arguments: Edit.allCases
    )
    func edits(edit: Edit) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            for newFirst in [true, false] {
                let zoneID = CKRecordZone.ID(zoneName: "Bodies-\(newFirst)")
                try await database.save(CKRecordZone(zoneID: zoneID))
                let leg = Limb(
                    id: "leg",
                    toes: [
                        Toe(id: "t1", nails: [Nail(id: "n1")]),
                        Toe(id: "t2", nails: [Nail(id: "n2"), Nail(id: "n3")]),
                    ],
                    big: Toe(id: "t3")
                )
                let head = Head(id: "a", limbs: [leg, Limb(id: "arm")])
                var old = try await database.save(head, in: zoneID)
                var new = try await database.save(Head(id: "b"), in: zoneID)
                old = try await database.graph(Head.self, for: old.rootID)
                new = try await database.graph(Head.self, for: new.rootID)
                var moved = old.root.limbs.removeFirst()
                Self.apply(edit, &moved, &old.root)
                new.root.limbs.append(moved)
                try new.takeRecords(from: &old)
                if newFirst { try await database.save(&new) }
                try await database.save(&old)
                if !newFirst { try await database.save(&new) }
                #expect(try await database.graph(Head.self, for: old.rootID).root == old.root)
                #expect(try await database.graph(Head.self, for: new.rootID).root == new.root)
            }
        }
    }
}
