import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Several engines in one process")
struct DeviceTests {
    @Test(
        "Any number of devices that edit at once agree in the end",
        arguments: CloudFixture.allCases,
        [2, 3, 5]
    )
    func devices(_ fixture: CloudFixture, _ count: Int) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            var devices: [Contacts] = []
            for _ in 0..<count { devices.append(Contacts(try await cloud.database(of: ada))) }
            devices[0].save(["all": "start"])
            try await devices[0].engine.sendChanges()
            for device in devices { try await device.engine.fetchChanges() }

            for (index, device) in devices.enumerated() {
                device.save(["all": "by \(index)", "own-\(index)": "by \(index)"])
            }
            try await withThrowingTaskGroup { group in
                for device in devices {
                    group.addTask {
                        // The losers of the conflict take the server's version and send once more.
                        for _ in 0..<(count + 1) { try? await device.engine.sendChanges() }
                    }
                }
                try await group.waitForAll()
            }
            for device in devices { try await device.engine.fetchChanges() }
            let own = (0..<count).map { ("own-\($0)", "by \($0)") }
            for device in devices {
                #expect(device.list == devices[0].list)
                #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
                for (id, name) in own { #expect(device.list[id] == name) }
            }
            #expect(devices[0].list["all"]?.hasPrefix("by ") == true)
            #expect(devices[0].list.count == count + 1)
        }
    }

    @Test("Users and their devices do not disturb one another", arguments: CloudFixture.allCases)
    func users(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            var devices: [(user: Int, app: Contacts)] = []
            for user in 0..<3 {
                let account = try await cloud.addUser("User \(user)")
                for _ in 0..<2 {
                    devices.append((user, Contacts(try await cloud.database(of: account))))
                }
            }
            try await withThrowingTaskGroup { group in
                for (index, device) in devices.enumerated() {
                    group.addTask {
                        device.app.save(["\(index)": "of user \(device.user)"])
                        try await device.app.engine.sendChanges()
                    }
                }
                try await group.waitForAll()
            }
            for device in devices { try await device.app.engine.fetchChanges() }
            for (index, device) in devices.enumerated() {
                let partner = index.isMultiple(of: 2) ? index + 1 : index - 1
                let name = "of user \(device.user)"
                #expect(device.app.list == ["\(index)": name, "\(partner)": name])
            }
        }
    }
}
