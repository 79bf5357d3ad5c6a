import CloudKit
import CloudKitCoreData
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Testing

@Suite("One zone with an app that has Core Data: composites", .timeLimit(.minutes(5)))
struct CoreDataCompositeTests {
    private static let composite = """
        <composite name="Address"><attribute name="city" optional="YES" attributeType="String"/>
        </composite>
        <entity name="Office"><attribute name="home" optional="YES" attributeType="Composite"
            composite="Address"/></entity>
        """

    @Test(
        "A store of a model with composites is refused with their names, unless they stay on the device"
    )
    func refusal() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let container = try await cloud.device(of: cloud.addUser())
            let model = try PhoneModel.model(adding: Self.composite)
            let database = try DatabaseQueue()
            try await database.write { try CoreDataTables(model: model).create(in: $0) }
            var format = try CoreDataFormat.coreData(model)
            let error = #expect(throws: CoreDataRecordError.self) {
                _ = try CloudStore(database: database, container: container, format: format)
            }
            #expect(error?.code == .unknownForm)
            #expect(error?.place == "Office.home")
            #expect(error?.message.contains("keepsCompositesLocal") == true)
            format.keepsCompositesLocal = true
            let store = try CloudStore(database: database, container: container, format: format)
            try await store.start()
            try await database.write {
                try $0.execute(
                    sql: "INSERT INTO Office (recordName, home_city) VALUES ('O1', 'Rome')"
                )
            }
            try await store.sync()
            let record = try await container.privateCloudDatabase.record(for: CoreDataZone.id("O1"))
            #expect(record.allKeys() == ["CD_entityName"])
            await store.stop()
        }
    }
}
