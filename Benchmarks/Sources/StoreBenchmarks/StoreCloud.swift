import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation

/// A cloud in the same process that another device of the user has filled.
struct StoreCloud {
    let container: CKContainer
    let count: Int

    init(rows count: Int) async throws {
        let cloud = try await TestCloud()
        let user = try await cloud.addUser("Ada")
        let writer = try await StoreDevice(try await cloud.device(of: user))
        try await writer.insert(count)
        try await writer.store.sync()
        container = try await cloud.device(of: user)
        self.count = count
    }

    /// Returns a device whose file has all rows.
    func syncedDevice() async throws -> StoreDevice {
        let device = try await StoreDevice(container)
        try await device.store.sync()
        guard try await device.count() == count else { throw Unequal() }
        return device
    }
}

/// An error that indicates that output and input differ.
struct Unequal: Error {}
