import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import Foundation
import GRDB
import Support

/// A test device: a database in memory, and the store that syncs it.
struct Device {
    let database: DatabaseQueue
    let store: CloudStore
    let container: CKContainer

    /// Opens a device of a user; a given database is opened again.
    init(
        _ cloud: Cloud,
        _ user: TestCloud.User?,
        database: DatabaseQueue? = nil,
        tables: [SyncedTable] = Self.notes,
        schema: String = Self.schema,
        configuration: CloudStore.Configuration = Self.configuration,
        transport: (any Transport) -> any Transport = { $0 }
    ) async throws {
        container = try await cloud.device(of: user, transport: transport)
        if let database {
            self.database = database
        } else {
            self.database = try DatabaseQueue()
            try await self.database.write { try $0.execute(sql: schema) }
        }
        store = try CloudStore(
            database: self.database,
            container: container,
            tables: tables,
            configuration: configuration
        )
        try await store.start()
    }

    static let schema = """
        CREATE TABLE folder (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
            parent TEXT REFERENCES folder (id) ON DELETE CASCADE
        );
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT,
            count INTEGER NOT NULL DEFAULT 0, tags TEXT,
            folder TEXT REFERENCES folder (id) ON DELETE SET NULL, draft TEXT
        );
        """

    static let notes: [SyncedTable] = [
        .table("folder"),
        .table(
            "note",
            fieldRules: ["count": .counter, "tags": .set],
            localOnly: ["draft"],
            forms: ["tags": .list]
        ),
    ]

    /// A configuration in which nothing happens unless the test requests it.
    static var configuration: CloudStore.Configuration {
        var configuration = CloudStore.Configuration()
        configuration.syncsAutomatically = false
        return configuration
    }

    func run(_ sql: String, _ arguments: StatementArguments = []) async throws {
        try await database.write { try $0.execute(sql: sql, arguments: arguments) }
    }

    /// Returns one value of a row as text.
    func value(_ sql: String) async throws -> String? {
        try await database.read { try String.fetchOne($0, sql: sql) }
    }

    /// Waits until a query returns a number.
    func wait(_ sql: String, for number: Int) async throws {
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: sql) }
        for try await found in observation.values(in: database) where found == number { return }
    }

    /// Returns all rows of the tables as text, one per line.
    func rows(_ tables: [String] = ["folder", "note"]) async throws -> [String] {
        try await database.read { database in
            try tables.flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY 1, 2")
                    .map { row in
                        table + " "
                            + row.filter { $0.0 != "draft" }.map { "\($0.0)=\($0.1)" }
                            .joined(separator: " ")
                    }
            }
        }
    }

    /// The private database, accessed without the store.
    var cloud: CKDatabase { container.privateCloudDatabase }

    static let zoneID = CKRecordZone.ID(zoneName: "CloudKitStore")

    static func id(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }
}

/// Runs a test with two devices of one user.
func withTwoDevices(
    _ fixture: CloudFixture = .inProcess,
    tables: [SyncedTable] = Device.notes,
    schema: String = Device.schema,
    _ body: @Sendable (Device, Device, Cloud) async throws -> Void
) async throws {
    try await fixture.run { cloud in
        let user = try await cloud.addUser()
        let phone = try await Device(cloud, user, tables: tables, schema: schema)
        let laptop = try await Device(cloud, user, tables: tables, schema: schema)
        try await body(phone, laptop, cloud)
    }
}

/// Syncs devices until none has changes for the others.
func settle(_ devices: Device...) async throws {
    for _ in 0..<3 {
        for device in devices { try await device.store.sync() }
    }
}
