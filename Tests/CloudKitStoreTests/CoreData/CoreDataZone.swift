import CloudKit
import CloudKitCoreData
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import Foundation
import GRDB
import Support

/// A device without Core Data: the model's tables, and the store that syncs them with the app's zone.
struct ModelDevice {
    let database: DatabaseQueue
    let store: CloudStore

    init(
        _ container: CKContainer,
        database: DatabaseQueue? = nil,
        adding: String = "",
        name: String? = nil,
        includesSharedRows: Bool = false
    ) async throws {
        let model = try PhoneModel.model(adding: adding)
        if let database {
            self.database = database
        } else {
            self.database = try DatabaseQueue()
            try await self.database.write { try CoreDataTables(model: model).create(in: $0) }
        }
        var configuration = Device.configuration
        configuration.device = name
        configuration.includesSharedRows = includesSharedRows
        store = try CloudStore(
            database: self.database,
            container: container,
            format: .coreData(model),
            configuration: configuration
        )
        try await store.start()
    }

    func run(_ sql: String, _ arguments: StatementArguments = []) async throws {
        try await database.write { try $0.execute(sql: sql, arguments: arguments) }
    }

    func text(_ sql: String) async throws -> String? {
        try await database.read { try String.fetchOne($0, sql: sql) }
    }

    func texts(_ sql: String) async throws -> [String] {
        try await database.read { try String.fetchAll($0, sql: sql) }
    }
}

/// A zone with the app on a phone, and a device that has the model's tables.
struct CoreDataZone {
    let phone: PhoneApp
    let device: ModelDevice
    let cloud: Cloud
    let user: TestCloud.User
    let container: CKContainer

    /// The zone's database, accessed without the phone and the store.
    var database: CKDatabase { container.privateCloudDatabase }

    static func id(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: PhoneApp.zoneID)
    }

    func record(_ name: String) async throws -> CKRecord {
        try await database.record(for: Self.id(name))
    }

    /// Syncs until neither side has anything for the other.
    func settle() async throws {
        for _ in 0..<3 {
            try await phone.sync()
            try await device.store.sync()
        }
    }

    /// Runs a test with a zone that the phone has made.
    static func run(
        transport: @Sendable (any Transport) -> any Transport = { $0 },
        _ body: @Sendable (CoreDataZone) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let container = try await cloud.device(of: user)
            let phone = PhoneApp(container)
            try await phone.setUp()
            let device = try await ModelDevice(
                try await cloud.device(of: user, transport: transport)
            )
            try await body(
                CoreDataZone(
                    phone: phone,
                    device: device,
                    cloud: cloud,
                    user: user,
                    container: container
                )
            )
        }
    }
}
