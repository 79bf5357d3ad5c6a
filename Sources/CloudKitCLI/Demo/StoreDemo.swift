#if !canImport(Darwin) || PORTABLE_CLOUDKIT
import CloudKit
import CloudKitStore
import Foundation
import GRDB

/// The demonstration of the store: two database files, offline edits, a conflict, and the same rows
/// in both at the end.
struct StoreDemo {
    /// The results.
    struct Outcome {
        var rows: Int
        /// Edits that lost, and are in the journal.
        var overruled: Int
    }

    private let a: StoreDevice
    private let b: StoreDevice

    init(_ containerA: CKContainer, _ containerB: CKContainer, folder: URL) async throws {
        let path = { folder.appendingPathComponent($0).path }
        a = try await StoreDevice("A", path: path("a.sqlite"), container: containerA)
        b = try await StoreDevice("B", path: path("b.sqlite"), container: containerB)
    }

    func run(_ atlas: Atlas) async throws -> Outcome {
        try await fill(atlas)
        let codes = try await editOffline()
        return try await converge(codes)
    }

    // MARK: Steps

    private func fill(_ atlas: Atlas) async throws {
        let countries = atlas.countries.map { country in
            StoreDevice.Country(
                code: country.code,
                name: country.name,
                zone: country.timeZones.first?.name
            )
        }
        try await a.database.write { database in
            for country in countries { try country.insert(database) }
        }
        try await a.sync("Device A syncs its rows   ")
        try await b.sync("Device B syncs its rows   ")
        let rows = try await b.rows()
        guard rows == countries.sorted(by: { $0.code < $1.code }) else {
            throw DemoError("Device B has \(rows.count) rows of \(countries.count)")
        }
    }

    /// The rows that both devices edit.
    private struct Codes {
        var merged: String
        var collided: String
        var deleted: String
        var added: String
    }

    private func editOffline() async throws -> Codes {
        let codes = try await a.rows().map(\.code)
        guard codes.count >= 3 else { throw DemoError("There are \(codes.count) countries") }
        let chosen = Codes(
            merged: codes[0],
            collided: codes[1],
            deleted: codes[2],
            // ISO 3166 leaves this code to its users.
            added: "ZZ"
        )
        for device in [a, b] { device.store.pause() }
        try await a.set("note", of: chosen.collided, to: "Note of A")
        try await a.set("name", of: chosen.merged, to: "Name of A")
        try await b.set("note", of: chosen.merged, to: "Note of B")
        // B's second edit, so that it is later than A's on any machine.
        try await b.set("note", of: chosen.collided, to: "Note of B")
        try await a.database.write { database in
            _ = try StoreDevice.Country.deleteOne(database, key: chosen.deleted)
        }
        try await b.database.write { database in
            try StoreDevice.Country(code: chosen.added, name: "Nowhere").insert(database)
        }
        let (onA, onB) = (try await a.store.status, try await b.store.status)
        guard onA.obstacle == .paused, onA.waitingToSend == 3, onB.waitingToSend == 3 else {
            throw DemoError("\(onA.waitingToSend) and \(onB.waitingToSend) edits wait, not 3 and 3")
        }
        Console.say("  Without a connection: 3 edits wait on device A, 3 on device B")
        return chosen
    }

    private func converge(_ codes: Codes) async throws -> Outcome {
        for device in [a, b] { device.store.resume() }
        try await a.sync("Device A is online again  ")
        try await b.sync("Device B is online again  ")
        try await a.sync("Device A fetches the merge")
        let (onA, onB) = (try await a.rows(), try await b.rows())
        let (merged, collided) = (
            try await a.row(codes.merged), try await a.row(codes.collided)
        )
        let lost = try await a.store.journal() + b.store.journal()
        guard onA == onB, merged?.name == "Name of A", merged?.note == "Note of B",
            collided?.note == "Note of B", try await a.row(codes.deleted) == nil,
            try await a.row(codes.added) != nil,
            lost.map(\.lost["note"]) == [.text("Note of A")]
        else { throw DemoError("The devices' rows differ after the merge") }
        for device in [a, b] { try await device.store.settled() }
        Console.say("  \(codes.merged): A's name and B's note both survived")
        Console.say(
            "  \(codes.collided): B's note was later and won; A's is in the journal and can be restored"
        )
        Console.say("  Both databases hold the same \(onA.count) rows")
        return Outcome(rows: onA.count, overruled: lost.count)
    }
}
#endif
