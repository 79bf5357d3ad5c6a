#if canImport(CloudKitTesting)
import CloudKit
import CloudKitTesting
import ContactBook
import Foundation
import Testing

@Suite("Contacts on several devices")
struct ContactBookTests {
    private func book(_ database: CKDatabase, at url: URL? = nil) throws -> ContactBook {
        let folder = FileManager.default.temporaryDirectory
        return try ContactBook(
            at: url ?? folder.appendingPathComponent("contacts-\(UUID().uuidString).json"),
            database: database,
            automaticallySync: false
        )
    }

    @Test("What one device adds, changes and deletes, the other has after a sync")
    func travel() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let phone = try book(try await cloud.device(of: ada).privateCloudDatabase)
        let laptop = try book(try await cloud.device(of: ada).privateCloudDatabase)
        var ann = Contact(name: "Ann", phone: "1")
        let ben = Contact(name: "Ben")
        try await phone.save(ann)
        try await phone.save(ben)
        try await phone.sync()
        try await laptop.sync()
        #expect(await laptop.contacts.map(\.name) == ["Ann", "Ben"])
        ann.phone = "2"
        try await laptop.save(ann)
        try await laptop.delete(ben.id)
        try await laptop.sync()
        try await phone.sync()
        #expect(await phone.contacts.map(\.phone) == ["2"])
    }

    @Test("Of two edits of one contact, the one sent last wins on both devices")
    func conflict() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let phone = try book(try await cloud.device(of: ada).privateCloudDatabase)
        let laptop = try book(try await cloud.device(of: ada).privateCloudDatabase)
        var ann = Contact(name: "Ann", phone: "1")
        try await phone.save(ann)
        try await phone.sync()
        try await laptop.sync()
        ann.phone = "laptop"
        try await laptop.save(ann)
        try await laptop.sync()
        ann.phone = "phone"
        try await phone.save(ann)
        try await phone.sync()
        try await laptop.sync()
        #expect(await phone.contacts.map(\.phone) == ["phone"])
        #expect(await laptop.contacts.map(\.phone) == ["phone"])
    }

    @Test("A change made before the app ended is sent when it starts again")
    func restart() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("contacts-\(UUID().uuidString).json")
        try await book(database, at: url).save(Contact(name: "Ann"))
        let again = try book(database, at: url)
        #expect(await again.contacts.map(\.name) == ["Ann"])
        try await again.sync()
        let laptop = try book(try await cloud.device(of: ada).privateCloudDatabase)
        try await laptop.sync()
        #expect(await laptop.contacts.map(\.name) == ["Ann"])
    }

    @Test("A file that is none is refused")
    func damage() async throws {
        let cloud = try await TestCloud()
        let database = try await cloud.device(of: nil).privateCloudDatabase
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("contacts-\(UUID().uuidString).json")
        try Data("no contacts".utf8).write(to: url)
        #expect(throws: DecodingError.self) { try book(database, at: url) }
    }
}
#endif
