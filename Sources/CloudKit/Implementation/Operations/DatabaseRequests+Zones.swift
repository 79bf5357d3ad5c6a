import CloudKitWebClient
import CloudKitWire
import Foundation

extension DatabaseRequests {
    typealias ZoneResults = [CKRecordZone.ID: Result<CKRecordZone, any Error>]
    typealias ZoneModificationResults = (
        saveResults: ZoneResults, deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    )

    /// Returns all zones, the default zone included.
    func allZones() async throws(CKError) -> [CKRecordZone] {
        let context = try await context()
        let response = try await native { () throws(WebClientError) in
            try await context.client.listZones(in: context.database)
        }
        var zones: [CKRecordZone] = []
        for result in response.zones {
            switch result {
            case .success(let zone): zones.append(context.zone(zone))
            case .failure(let error): throw CKError(error)
            }
        }
        return zones
    }

    /// Fetches zones by ID; the result has an entry for every ID.
    func fetchZones(_ zoneIDs: [CKRecordZone.ID]) async throws(CKError) -> ZoneResults {
        guard !zoneIDs.isEmpty else { return [:] }
        let context = try await context()
        let response = try await native { () throws(WebClientError) in
            try await context.client.lookupZones(
                LookupZonesRequest(zones: zoneIDs.map(context.owners.wire)),
                in: context.database
            )
        }
        var results: ZoneResults = [:]
        for (zoneID, result) in zip(zoneIDs, response.zones) {
            results[zoneID] = result.map(context.zone).mapError { CKError($0) }
        }
        return results
    }

    /// Creates and deletes zones; the result has an entry for every zone.
    func modifyZones(
        saving: [CKRecordZone],
        deleting: [CKRecordZone.ID]
    ) async throws(CKError) -> ZoneModificationResults {
        var results: ZoneModificationResults = ([:], [:])
        guard !saving.isEmpty || !deleting.isEmpty else { return results }
        guard scope == .private else {
            let remedy =
                scope == .shared && !deleting.isEmpty
                ? "; to leave what is shared in a zone, delete the CKShare in it from the shared "
                    + "database" : ""
            throw CKError(
                .badDatabase,
                message: "Zones are created and deleted in the private database, not in the "
                    + "\(scope.wire.rawValue) one\(remedy)"
            )
        }
        let context = try await context()
        let operations =
            saving.map { ModifyZonesRequest.Operation(.create, context.owners.wire($0.zoneID)) }
            + deleting.map { ModifyZonesRequest.Operation(.delete, context.owners.wire($0)) }
        let response = try await native { () throws(WebClientError) in
            try await context.client.modifyZones(
                ModifyZonesRequest(operations: operations),
                in: context.database
            )
        }
        for (zone, result) in zip(saving, response.zones) {
            results.saveResults[zone.zoneID] =
                result.map(context.zone).mapError { CKError($0) }
        }
        for (zoneID, result) in zip(deleting, response.zones.dropFirst(saving.count)) {
            results.deleteResults[zoneID] = context.deletion(result)
        }
        return results
    }
}

extension DatabaseRequests.Context {
    /// Returns a zone that came from the server: custom zones have all capabilities, the default
    /// zone none.
    func zone(_ wire: WireZone) -> CKRecordZone {
        let capabilities: CKRecordZone.Capabilities =
            wire.zoneID.isDefault ? [] : [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        let zoneID = owners.native(wire.zoneID)
        let share = wire.share.map { share in
            CKRecord.Reference(
                recordID: CKRecord.ID(recordName: share.recordName, zoneID: zoneID),
                action: .none
            )
        }
        return CKRecordZone(zoneID: zoneID, capabilities: capabilities, share: share)
    }

    /// Returns the result of a deletion; a missing zone counts as deleted.
    fileprivate func deletion(_ result: ItemResult<WireZone>) -> Result<Void, any Error> {
        switch result {
        case .success: .success(())
        case .failure(let error) where error.serverErrorCode == .zoneNotFound: .success(())
        case .failure(let error): .failure(CKError(error))
        }
    }
}
