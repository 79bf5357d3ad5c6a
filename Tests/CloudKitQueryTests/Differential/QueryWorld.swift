import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

/// A database with the records of a seed, and the oracle's copy of them.
final class QueryWorld {
    let database: CKDatabase
    let user: String
    /// The oracle's records, by zone and name.
    private(set) var known: [OracleValue: OracleRecord] = [:]
    /// The records as the service returns them.
    private(set) var records: [CKRecord] = []

    private let cloud: Cloud
    private let token: String
    private var lastNotification = ""

    init(_ cloud: Cloud, _ generator: inout CaseGenerator) async throws {
        self.cloud = cloud
        let ada = try await cloud.addUser()
        user = ada.recordName
        database = try await cloud.database(of: ada)
        // A device that changes nothing is notified of everything.
        token = try await cloud.client(of: ada).createToken().apnsToken
        for zone in ["A", "B"] { try await database.save(CKRecordZone(zoneName: zone)) }
        // Every field is there from the start, so that none is missing in the schema.
        let first = OracleRecord(
            zone: "A",
            name: "first",
            fields: Dictionary(
                uniqueKeysWithValues: CaseGenerator.fields.map { field in
                    let value = generator.value(of: field)
                    return (field, field.hasPrefix("l") ? .list([value]) : value)
                }
            )
        )
        try await save([first] + generator.records())
        try await read()
    }

    private static func record(_ record: OracleRecord) -> CKRecord {
        let made = CKRecord(
            recordType: "Item",
            recordID: OracleValue.identity(record.zone, record.name)
        )
        for (field, value) in record.fields { made.setValue(value.native, forKey: field) }
        return made
    }

    private func save(_ records: [OracleRecord]) async throws {
        for zone in CaseGenerator.zones {
            let part = records.filter { $0.zone == zone }
            guard !part.isEmpty else { continue }
            let (saved, _) = try await database.modifyRecords(
                saving: part.map(Self.record),
                deleting: [],
                savePolicy: .allKeys
            )
            for result in saved.values { _ = try result.get() }
        }
        for record in records { known[record.identity] = record }
    }

    /// Fetches all records again.
    private func read() async throws {
        let all = known.keys.compactMap { identity -> CKRecord.ID? in
            guard case .link(let zone, let name) = identity else { return nil }
            return OracleValue.identity(zone, name)
        }
        records = try await database.records(for: all).values.map { try $0.get() }
    }

    func oracle(_ recordID: CKRecord.ID) -> OracleRecord? {
        known[.link(zone: recordID.zoneID.zoneName, name: recordID.recordName)]
    }

    // MARK: Changes

    /// A change of one record.
    struct Change {
        var before: OracleRecord?
        var after: OracleRecord?
        /// The subscriptions that sent a notification about it.
        var heard: Set<String>
    }

    /// Creates, changes or deletes a record, and collects the subscriptions that report it.
    func change(_ generator: inout CaseGenerator) async throws -> Change {
        let names = ["same", "u", "r1", "new1", "new2"]
        let zone = generator.pick(CaseGenerator.zones)
        let name = generator.pick(names)
        let before = known[.link(zone: zone, name: name)]
        if let before, generator.chance.chance(30) {
            try await database.deleteRecord(withID: OracleValue.identity(zone, name))
            known[before.identity] = nil
            return Change(before: before, heard: try await hear())
        }
        var after = OracleRecord(zone: zone, name: name, fields: generator.fields())
        if let before {
            // Saving keeps the fields that are not written.
            after.fields = before.fields.merging(after.fields) { $1 }
        }
        try await save([after])
        return Change(before: before, after: after, heard: try await hear())
    }

    /// Returns the subscriptions that reported the newest change; each reports it once.
    private func hear() async throws -> Set<String> {
        let bodies = try await cloud.notifications(waitingFor: token)
        let heard = try bodies.map { body -> (change: String, subscription: String) in
            let json = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
            let about = try #require(json["ck"] as? [String: Any])
            let query = try #require(about["qry"] as? [String: Any])
            return (about["nid"] as? String ?? "", query["sid"] as? String ?? "")
        }
        guard let newest = heard.last?.change, newest != lastNotification else { return [] }
        lastNotification = newest
        let names = heard.filter { $0.change == newest }.map(\.subscription)
        #expect(Set(names).count == names.count, "A subscription tells of a change twice")
        return Set(names)
    }
}
