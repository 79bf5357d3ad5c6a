import CloudKit
import CloudKitCodable
import Foundation
import Support
import Testing

/// Two libraries, edited in two graphs of one device, that take shelves and books from each other.
struct MovingTrial {
    var sides: (LibraryEditing, LibraryEditing)
    let phone: CKDatabase
    let laptop: CKDatabase
    let zoneID: CKRecordZone.ID

    /// The number of moves so far.
    private(set) var done = 0

    init(
        sides: (LibraryEditing, LibraryEditing),
        phone: CKDatabase,
        laptop: CKDatabase,
        zoneID: CKRecordZone.ID
    ) {
        (self.sides, self.phone, self.laptop, self.zoneID) = (sides, phone, laptop, zoneID)
    }

    mutating func run(moves: Int) async throws {
        var first = try await phone.save(sides.0.library, in: zoneID)
        var second = try await phone.save(sides.1.library, in: zoneID)
        while done < moves {
            for _ in 0..<2 {
                sides.0.edit()
                sides.1.edit()
            }
            let isForth = sides.0.random.chance(50)
            let moved = isForth ? sides.0.move(to: &sides.1) : sides.1.move(to: &sides.0)
            done += 1
            (first.root, second.root) = (sides.0.library, sides.1.library)
            if moved, isForth { try second.takeRecords(from: &first) }
            if moved, !isForth { try first.takeRecords(from: &second) }
            // A record that one graph took may be the child of another's orphan until it is saved.
            let deletes = sides.0.random.chance(30)
            if sides.0.random.chance(50) {
                try await phone.save(&first)
                try await phone.save(&second, deletingOrphans: deletes)
            } else {
                try await phone.save(&second)
                try await phone.save(&first, deletingOrphans: deletes)
            }
            for graph in [first, second] {
                let loaded = try await laptop.graph(Library.self, for: graph.rootID)
                guard loaded.root != graph.root else { continue }
                throw Difference(description: "\(graph.root.id) is another when it is loaded")
            }
            if sides.0.random.chance(20) {
                first = try await phone.graph(Library.self, for: first.rootID)
                second = try await phone.graph(Library.self, for: second.rootID)
                sides.0.forgetRemoved()
                sides.1.forgetRemoved()
            }
        }
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }
}
