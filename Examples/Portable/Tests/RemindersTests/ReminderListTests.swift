#if canImport(CloudKitTesting)
import CloudKit
import CloudKitTesting
import Foundation
import Reminders
import Testing

@Suite("Reminders")
struct ReminderListTests {
    private let noon = Date(timeIntervalSinceReferenceDate: 43_200)

    @Test("What one device adds is due on another, in order")
    func sync() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let phone = ReminderList(try await cloud.device(of: ada).privateCloudDatabase)
        let laptop = ReminderList(try await cloud.device(of: ada).privateCloudDatabase)
        try await phone.add("Milk", due: noon)
        try await phone.add("Tea", due: noon - 60)
        try await phone.add("Later", due: noon + 60)
        #expect(try await laptop.titles(dueBy: noon) == ["Tea", "Milk"])
    }

    @Test("The module is the portable one where it was asked for")
    func module() {
        let isPortable = ProcessInfo.processInfo.environment["CLOUDKIT_PORTABLE"] != nil
        let name = String(reflecting: CKRecord.self)
        #expect(name == (isPortable ? "PortableCloudKit.CKRecord" : "CloudKit.CKRecord"))
    }
}
#endif
