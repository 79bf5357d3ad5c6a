import CloudKit
import CloudKitServerCore
import CloudKitTesting

extension StoreSimulation {
    /// Reports a user's write to the oracle, with the device's previous rows.
    func note(
        _ before: OracleTable.Rows,
        on device: SimulatedDevice,
        in world: SimulatedWorld
    ) throws {
        oracle.wrote(
            before,
            try device.shown(),
            by: device.number,
            at: world.cloud.clock.milliseconds
        )
    }

    /// Looks up the outcome of saves without a response, without the devices.
    func resolveUncertain(in world: SimulatedWorld) async throws {
        let names = oracle.uncertain
        guard !names.isEmpty else { return }
        var tags: [String: String?] = [:]
        for name in names { tags[name] = .some(nil) }
        for user in world.users.indices {
            let database = try await observer(of: user, in: world).privateCloudDatabase
            for (id, result) in try await database.records(for: names.map(Device.id)) {
                guard case .success(let record) = result else { continue }
                tags[id.recordName] = record.recordChangeTag
            }
        }
        oracle.resolve(tags)
    }

    /// Checks the rows of all devices at rest with the oracle.
    func checkValues(in world: SimulatedWorld) async throws {
        guard problems.isEmpty else { return }
        let database = try await observer(of: 0, in: world).privateCloudDatabase
        problems += oracle.takeProblems()
        problems += try await oracle.problems(
            devices.map { ($0.number, $0.database) },
            records(in: database)
        )
    }

    /// Returns all records of the zone except shares, by name.
    private func records(in database: CKDatabase) async throws -> [String: CKRecord] {
        var records: [String: CKRecord] = [:]
        var token: CKServerChangeToken?
        while true {
            do {
                let page = try await database.recordZoneChanges(
                    inZoneWith: Device.zoneID,
                    since: token
                )
                for (id, result) in page.modificationResultsByID {
                    let record = try result.get().record
                    if !(record is CKShare) { records[id.recordName] = record }
                }
                for deletion in page.deletions { records[deletion.recordID.recordName] = nil }
                token = page.changeToken
                if !page.moreComing { return records }
            } catch let error as CKError where error.code == .zoneNotFound {
                return records
            }
        }
    }
}
