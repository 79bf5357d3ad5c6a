import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Memberships of earlier servers")
struct EarlierMembershipTests {
    @Test("An owner who was entered as a guest of the own zone has nothing shared with them")
    func ownerAsMember() async throws {
        let storage = try SQLiteStorage(path: nil)
        let trees = try await SharedTrees(storage: storage)
        let name = trees.ada.name
        // As an earlier server did when the owner opened the link.
        let entered = try await storage.write { writer in
            var entered = 0
            for environment in 1...4 {
                for user in 1...20 {
                    let id = RowID<StoredUser>(rawValue: Int64(user))
                    guard try writer.user(id)?.recordName == name else { continue }
                    entered += try Self.enter(id, environment: environment, writer)
                }
            }
            return entered
        }
        #expect(entered > 0)
        let zones = try await trees.cloud.call("changes/database", .shared, as: trees.ada, [:])
        #expect(zones.body.zones.elements.isEmpty, "\(zones.body)")
        // Participants still see changes, and the owner is no participant.
        let change = SharedTrees.save("forceUpdate", "a1", below: "b")
        let response = try await trees.cloud.modify(as: trees.ada, [change])
        #expect(response.records[0].serverErrorCode == nil)
        #expect(try await trees.seen(by: trees.eve) == ["b", "b1", "a1", "a2", "share of b"])
    }

    /// Adds a user as a participant to every zone with participants; returns the number of zones.
    private static func enter(
        _ owner: RowID<StoredUser>,
        environment: Int,
        _ writer: any StorageWriter
    ) throws -> Int {
        var places: [String: Data] = [:]
        for user in 1...20 {
            let collection = "shareMembership/\(environment)/\(user)"
            for document in try writer.documents(collection) {
                places[document.name] = document.body
            }
        }
        for (name, body) in places {
            try writer.putDocument(
                "shareMembership/\(environment)/\(owner.rawValue)",
                StoredDocument(name: name, body: body)
            )
            try writer.putDocument(
                "shareMember/\(environment)/\(name.prefix { $0 != "/" })",
                StoredDocument(name: String(owner.rawValue), body: Data())
            )
        }
        return places.count
    }
}
