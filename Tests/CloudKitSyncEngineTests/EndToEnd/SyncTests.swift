import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Support
import Testing

@Suite("An app and its engine against a cloud")
struct SyncTests {
    private static func code(_ error: any Error, _ id: String) -> CKError.Code? {
        let item = (error as? CKError)?.partialErrorsByItemID?[Contacts.recordID(id)]
        return (item as? CKError)?.code
    }

    @Test(
        "Any number of records goes up with one call, and comes down with another",
        arguments: CloudFixture.allCases,
        [1, 10, 444]
    )
    func counts(_ fixture: CloudFixture, _ count: Int) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = Contacts(try await cloud.database(of: ada))
            let laptop = Contacts(try await cloud.database(of: ada))
            let names = Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", "n\($0)") })
            phone.save(names)
            try await phone.engine.sendChanges()
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
            try await laptop.engine.fetchChanges()
            #expect(laptop.list == names)
            let batches = phone.story.filter { $0 == "sentRecordZoneChanges" }.count
            #expect(batches == (count + 249) / 250)
        }
    }

    @Test("10,000 records go up with one call", arguments: CloudFixture.allCases)
    func thousands(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = Contacts(try await cloud.database(of: ada))
            let laptop = Contacts(try await cloud.database(of: ada))
            phone.save(Dictionary(uniqueKeysWithValues: (0..<10_000).map { ("\($0)", "n") }))
            try await phone.engine.sendChanges()
            try await laptop.engine.fetchChanges()
            #expect(laptop.list.count == 10_000)
        }
    }

    @Test("Renaming and deleting reach the other devices", arguments: CloudFixture.allCases)
    func changes(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            var devices: [Contacts] = []
            for _ in 0..<5 { devices.append(Contacts(try await cloud.database(of: ada))) }
            devices[0].save(["1": "Ann", "2": "Ben"])
            try await devices[0].engine.sendChanges()
            for device in devices { try await device.engine.fetchChanges() }
            devices[1].save(["1": "Anna"])
            devices[1].delete(["2"])
            try await devices[1].engine.sendChanges()
            for device in devices { try await device.engine.fetchChanges() }
            for device in devices { #expect(device.list == ["1": "Anna"]) }
        }
    }

    @Test("The account is reported before the first sending", arguments: CloudFixture.allCases)
    func account(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let phone = Contacts(try await cloud.database(of: try await cloud.addUser()))
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            #expect(phone.story.first == "accountChange")
            #expect(phone.story.last == "didSendChanges")
        }
    }

    @Test(
        "Of two devices that change one record, the second is notified and keeps it pending",
        arguments: CloudFixture.allCases,
        [true, false]
    )
    func conflict(_ fixture: CloudFixture, _ isPhoneFirst: Bool) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = Contacts(try await cloud.database(of: ada))
            let laptop = Contacts(try await cloud.database(of: ada))
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await laptop.engine.fetchChanges()
            phone.save(["1": "Phone"])
            laptop.save(["1": "Laptop"])
            let (first, second) = isPhoneFirst ? (phone, laptop) : (laptop, phone)
            try await first.engine.sendChanges()
            let error = try await #require(throws: CKError.self) {
                try await second.engine.sendChanges()
            }
            #expect(Self.code(error, "1") == .serverRecordChanged)
            #expect(second.engine.state.pendingRecordZoneChanges.count == 1)
            #expect(first.engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(second.list == first.list)
            try await second.engine.sendChanges()
            #expect(second.engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(
        "A zone that is gone is reported, made again, and its records sent again",
        arguments: CloudFixture.allCases
    )
    func zoneGone(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let phone = Contacts(database)
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            _ = try await database.deleteRecordZone(withID: Contacts.zoneID)
            phone.save(["1": "Anna"])
            let error = try await #require(throws: CKError.self) {
                try await phone.engine.sendChanges()
            }
            #expect(Self.code(error, "1") == .zoneNotFound)
            try await phone.engine.sendChanges()
            let record = try await database.record(for: Contacts.recordID("1"))
            #expect(record["name"] == "Anna")
        }
    }

    @Test(
        "A zone that another device deleted is reported by the next fetch",
        arguments: CloudFixture.allCases
    )
    func zoneDeleted(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = Contacts(try await cloud.database(of: ada))
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await phone.engine.fetchChanges()
            let other = try await cloud.database(of: ada)
            _ = try await other.deleteRecordZone(withID: Contacts.zoneID)
            try await phone.engine.fetchChanges()
            #expect(phone.list.isEmpty)
        }
    }

    @Test(
        "Of a zone that another device deleted and made again, only the new records remain",
        arguments: CloudFixture.allCases
    )
    func zoneRemade(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = Contacts(try await cloud.database(of: ada))
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await phone.engine.fetchChanges()
            let other = try await cloud.database(of: ada)
            _ = try await other.deleteRecordZone(withID: Contacts.zoneID)
            try await other.save(CKRecordZone(zoneID: Contacts.zoneID))
            let record = CKRecord(recordType: "Contact", recordID: Contacts.recordID("2"))
            record["name"] = "Ben"
            try await other.save(record)
            try await phone.engine.fetchChanges()
            #expect(phone.list == ["2": "Ben"])
        }
    }

    @Test(
        "A record that another device deleted is reported, and can be made again",
        arguments: CloudFixture.allCases
    )
    func recordGone(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let phone = Contacts(database)
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await database.deleteRecord(withID: Contacts.recordID("1"))
            phone.save(["1": "Anna"])
            let error = try await #require(throws: CKError.self) {
                try await phone.engine.sendChanges()
            }
            #expect(Self.code(error, "1") == .unknownItem)
            try await phone.engine.sendChanges()
            #expect(try await database.record(for: Contacts.recordID("1"))["name"] == "Anna")
        }
    }

    @Test("A deletion of a zone that was never there succeeds")
    func absentZone() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let phone = Contacts(try await cloud.database(of: try await cloud.addUser()))
            let zoneID = CKRecordZone.ID(zoneName: "Never")
            phone.engine.state.add(pendingDatabaseChanges: [.deleteZone(zoneID)])
            try await phone.engine.sendChanges()
            #expect(phone.engine.state.pendingDatabaseChanges.isEmpty)
        }
    }

    @Test(
        "Whatever happens to a request, nothing is lost and nothing is there twice",
        arguments: ScriptedTransport.Fault.allCases,
        [
            "records/modify", "zones/modify", "changes/zone", "changes/database",
        ]
    )
    func faults(_ fault: ScriptedTransport.Fault, _ path: String) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            let container = try await cloud.device(of: ada) {
                ScriptedTransport.failing([(path, fault)], over: $0)
            }
            let phone = Contacts(container.privateCloudDatabase)
            let names = Dictionary(uniqueKeysWithValues: (0..<300).map { ("\($0)", "n\($0)") })
            phone.save(names)
            var failures = 0
            for _ in 0..<4 {
                do {
                    try await phone.engine.sendChanges()
                    try await phone.engine.fetchChanges()
                    break
                } catch {
                    failures += 1
                }
            }
            #expect(failures > 0)
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
            let laptop = Contacts(try await cloud.database(of: ada))
            try await laptop.engine.fetchChanges()
            #expect(laptop.list == names)
        }
    }

    @Test("A database token of another life of the cloud is given up")
    func foreignTokens() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let phone = Contacts(try await cloud.database(of: try await cloud.addUser()))
            phone.save(["1": "Ann"])
            try await phone.engine.sendChanges()
            try await phone.engine.fetchChanges()
            var state = try #require(try phone.kept.saved?.contents.get())
            state.databaseToken = CKServerChangeToken(text: "of another life")
            state.zoneTokens = state.zoneTokens.mapValues { _ in .init(text: "of another life") }
            var contents = phone.kept
            contents.saved = CKSyncEngine.State.Serialization(state)
            contents.contacts = [:]
            contents.engine = nil
            let again = Contacts(phone.engine.database, contents: contents)
            try await again.engine.fetchChanges()
            #expect(again.list == ["1": "Ann"])
        }
    }
}
