#if canImport(CloudKitTesting)
import CloudKit
import CloudKitStoreTesting
import CloudKitTesting
import Foundation
import Notebook
import Testing

@Suite("Notes on several devices", .timeLimit(.minutes(10)))
struct NotebookTests {
    /// Runs a test with two devices of one user, which sync on request.
    private func withTwoDevices(
        _ body: (_ phone: Notebook, _ laptop: Notebook) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("notes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        func device(_ name: String) async throws -> Notebook {
            try Notebook(
                at: folder.appendingPathComponent(name).path,
                container: try await cloud.device(of: ada),
                syncsAutomatically: false
            )
        }
        try await body(device("phone.sqlite"), device("laptop.sqlite"))
    }

    private func settle(_ devices: Notebook...) async throws {
        for _ in 0..<2 {
            for device in devices { try await device.store.sync() }
        }
    }

    @Test("Whatever happens to three devices, they end with the same notes")
    func simulation() async throws {
        try await StoreSimulation(migrator: Notebook.migrator, tables: Notebook.tables)
            .run(seeds: 1...20)
    }

    @Test("What one device adds, changes, attaches and deletes, the other has after a sync")
    func travel() async throws {
        try await withTwoDevices { phone, laptop in
            var note = Note(title: "Shopping")
            note.tags = ["home"]
            try await phone.save(note)
            try await phone.attach(Data("milk".utf8), named: "list.txt", to: note)
            try await settle(phone, laptop)
            #expect(try await laptop.notes(tagged: "home").map(\.title) == ["Shopping"])
            #expect(try await laptop.attachment("list.txt")?.data == Data("milk".utf8))
            note.title = "Groceries"
            try await laptop.save(note)
            try await settle(laptop, phone)
            #expect(try await phone.search("groc").map(\.id) == [note.id])
            try await phone.delete(note)
            try await settle(phone, laptop)
            #expect(try await laptop.notes().isEmpty)
            #expect(try await laptop.attachment("list.txt") == nil)
        }
    }

    @Test("Offline edits of different columns, and tags of both devices, all survive")
    func offlineEdits() async throws {
        try await withTwoDevices { phone, laptop in
            let note = Note(title: "Shopping")
            try await phone.save(note)
            try await settle(phone, laptop)
            var (here, there) = (note, note)
            (here.body, here.tags) = ("milk", ["home"])
            (there.title, there.tags) = ("Groceries", ["weekly"])
            try await phone.save(here)
            try await laptop.save(there)
            try await settle(phone, laptop)
            for device in [phone, laptop] {
                let merged = try await device.note(id: note.id)
                #expect(merged?.title == "Groceries" && merged?.body == "milk")
                #expect(merged?.tags.sorted() == ["home", "weekly"])
            }
        }
    }

    @Test("Of two texts the later one wins on both devices, and the other one can be brought back")
    func conflict() async throws {
        try await withTwoDevices { phone, laptop in
            let note = Note(title: "Shopping")
            try await phone.save(note)
            try await settle(phone, laptop)
            var (first, second) = (note, note)
            first.body = "milk"
            try await laptop.save(first)
            // The second edit of a device is later than another's first, however fast the machine is.
            second.body = "rye"
            try await phone.save(second)
            second.body = "bread"
            try await phone.save(second)
            try await settle(phone, laptop)
            #expect(try await phone.note(id: note.id)?.body == "bread")
            #expect(try await laptop.note(id: note.id)?.body == "bread")
            let lost = try #require(try await laptop.store.journal().last)
            try await laptop.store.restore(lost)
            try await settle(laptop, phone)
            #expect(try await phone.note(id: note.id)?.body == "milk")
        }
    }

    @Test("The list is shown when it changes, whoever changed it")
    func watch() async throws {
        try await withTwoDevices { phone, laptop in
            var lists = laptop.watch().makeAsyncIterator()
            #expect(try await lists.next() == [])
            try await laptop.save(Note(title: "Mine"))
            #expect(try await lists.next()?.map(\.title) == ["Mine"])
            try await phone.save(Note(title: "Theirs"))
            try await settle(phone, laptop)
            #expect(try await lists.next()?.map(\.title) == ["Mine", "Theirs"])
        }
    }
}
#endif
