import CloudKitWebClient
import CloudKitWire
import Foundation

extension DatabaseRequests {
    typealias RecordResults = [CKRecord.ID: Result<CKRecord, any Error>]

    /// Fetches records by ID; the result has an entry for every ID.
    ///
    /// - Throws: `limitExceeded` for more IDs than one call may name.
    func fetch(
        _ recordIDs: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]?,
        progress: @escaping @Sendable (CKRecord.ID, Double) -> Void = { _, _ in }
    ) async throws(CKError) -> RecordResults {
        guard !recordIDs.isEmpty else { return [:] }
        try RecordModification.check(itemCount: recordIDs.count)
        let context = try await context()
        var results: RecordResults = [:]
        for (zoneID, recordIDs) in recordIDs.byZone {
            do {
                let unique = recordIDs.unique
                let responses = try await native { () throws(WebClientError) in
                    try await context.client.lookup(
                        unique.map(\.recordName),
                        zoneID: context.owners.wire(zoneID),
                        desiredKeys: desiredKeys,
                        in: context.database
                    )
                }
                let records = await context.materialize(
                    responses,
                    home: zoneID,
                    assets: .all
                ) { index, fraction in progress(unique[index], fraction) }
                for (recordID, record) in zip(unique, records) { results[recordID] = record }
            } catch let error where error.isAboutMissingZone {
                for recordID in recordIDs { results[recordID] = .failure(error) }
            }
        }
        return results
    }
}

extension DatabaseRequests.Context {
    /// The assets whose files to download.
    enum AssetFiles {
        case none
        case all
        /// The assets whose files the service has: other files are lost, and no retry finds them.
        case existing
    }

    /// Returns the records of a response, with the files of their assets; `progress` receives each
    /// record's index and the downloaded part of its files.
    func materialize(
        _ results: [ItemResult<WireRecord>],
        home: CKRecordZone.ID,
        assets: AssetFiles,
        progress: @escaping @Sendable (Int, Double) -> Void = { _, _ in }
    ) async -> [Result<CKRecord, any Error>] {
        // Records with errors have no assets; the errors are returned below.
        let wanted = assets != .none ? results.map { (try? $0.get())?.assets ?? [] } : []
        let received = DownloadProgress(of: wanted, progress)
        let files = await AssetDownloads(
            of: wanted.flatMap(\.self),
            client: client,
            into: self.files
        ) {
            received.note($0, $1)
        }
        return results.map { result in
            switch result {
            case .failure(let error): return .failure(CKError(error))
            case .success(let wire):
                if let failure = files.failure(
                    in: wire.assets,
                    passingLost: assets == .existing
                ) {
                    return .failure(failure)
                }
                return Result<CKRecord, CKError> { () throws(CKError) in
                    try records.native(wire, home: home, asset: files.asset)
                }.mapError { $0 }
            }
        }
    }
}

extension WireRecord {
    /// The assets of all fields.
    var assets: [WireAsset] {
        fields.values.flatMap { field -> [WireAsset] in
            switch field.value {
            case .asset(let asset): [asset]
            case .list(let values, of: .asset):
                values.compactMap { if case .asset(let asset) = $0 { asset } else { nil } }
            default: []
            }
        }
    }
}

extension [CKRecord.ID] {
    /// The IDs of each zone, zones and IDs in the order of their first appearance.
    var byZone: [(CKRecordZone.ID, [CKRecord.ID])] {
        var order: [CKRecordZone.ID] = []
        var groups: [CKRecordZone.ID: [CKRecord.ID]] = [:]
        for recordID in self {
            if groups[recordID.zoneID] == nil { order.append(recordID.zoneID) }
            groups[recordID.zoneID, default: []].append(recordID)
        }
        return order.map { ($0, groups[$0] ?? []) }
    }

    /// The IDs without duplicates, in the order of first appearance.
    var unique: [CKRecord.ID] {
        var seen: Set<CKRecord.ID> = []
        return filter { seen.insert($0).inserted }
    }
}
