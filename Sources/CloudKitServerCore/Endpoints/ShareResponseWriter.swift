import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes the responses of `records/resolve` and `records/accept`.
struct ShareResponseWriter {
    let call: Call
    /// The caller; nil without a user.
    let user: StoredUser?
    let reader: any StorageReader
    let links: AssetLinks

    private typealias Key = ShareMetadata.CodingKeys

    /// Writes one element for each link; an error affects only its own link.
    func write(
        _ requested: [SharesRequest.ShortGUID],
        share: (SharesRequest.ShortGUID) throws -> StoredRecord
    ) throws -> Data {
        var writer = JSONWriter(capacity: 4096)
        writer.openObject()
        writer.key(SharesResponse.CodingKeys.results)
        writer.openArray()
        for guid in requested {
            writer.openObject()
            writer.key(Key.shortGUID)
            writer.json(try WireJSON.encode(guid))
            do {
                try write(try share(guid), guid, to: &writer)
            } catch let error as RequestError
                where !error.endsRequest && error.serverErrorCode != .authenticationRequired
            {
                writer.member(ItemError.CodingKeys.reason, error.reason)
                writer.member(ItemError.CodingKeys.serverErrorCode, error.serverErrorCode.rawValue)
                writer.member(
                    ItemError.CodingKeys.nativeErrorCode,
                    error.nativeErrorCode.map(Int64.init)
                )
            }
            writer.closeObject()
        }
        writer.closeArray()
        writer.closeObject()
        return writer.data
    }

    private func write(
        _ row: StoredRecord,
        _ guid: SharesRequest.ShortGUID,
        to writer: inout JSONWriter
    ) throws {
        guard let part = try row.sharePart, let zone = try reader.zone(row.zone),
            let database = try reader.database(zone.database),
            let owner = try database.owner.flatMap({ try reader.user($0) })
        else { throw StorageError(.corrupt, "A share is incomplete") }
        let preview = part.preview(for: user?.recordName, share: row.name)
        let view = ZoneView(
            zone,
            in: database,
            owner: owner.recordName,
            access: owner.id == user?.id ? .everything : .shares(preview.map { [$0] } ?? [])
        )
        let current = part.participant(user?.recordName)
        writer.member(Key.containerIdentifier, call.environment.container)
        writer.member(Key.environment, call.environment.kind.rawValue)
        writer.member(Key.databaseScope, owner.id == user?.id ? "PRIVATE" : "SHARED")
        writer.key(Key.zoneID)
        writer.zoneID(view.id)
        writer.key(Key.share)
        let records = RecordResponseWriter(
            zone: view,
            namesZone: true,
            numbersAsStrings: false,
            namesTypeOfTombstones: false,
            links: links,
            work: call.work,
            caller: user?.recordName
        )
        try records.write(row, desiredKeys: nil, to: &writer)
        writer.member(Key.rootRecordName, part.root)
        if guid.shouldFetchRootRecord == true, let name = part.root,
            let root = try reader.record(row.zone, name: name), !root.isDeleted,
            try view.sight(call, schema: nil).shows(root, reader)
        {
            writer.key(Key.rootRecord)
            try records.write(root, desiredKeys: guid.rootRecordDesiredKeys, to: &writer)
        }
        writer.member(Key.participantType, (current?.type ?? .publicUser).rawValue)
        writer.member(Key.participantStatus, (current?.acceptanceStatus ?? .invited).rawValue)
        writer.member(
            Key.participantPermission,
            (current.map(part.permission(of:)) ?? part.publicPermission).rawValue
        )
        writer.key(Key.ownerIdentity)
        writer.json(try WireJSON.encode(ParticipantIdentity(owner)))
    }
}
