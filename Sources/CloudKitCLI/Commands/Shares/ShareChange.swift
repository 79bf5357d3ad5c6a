import CloudKitWebClient

/// A change of a share by its owner.
struct ShareChange {
    let client: WebClient
    let zoneID: WireZoneID

    /// Sends a share, and prints the service's version of it.
    ///
    /// - Throws: `WebClientError`, or `CommandFailure` when the service refuses it.
    func send(
        _ kind: RecordOperation.OperationType,
        _ share: WireRecord,
        _ output: OutputOptions
    ) async throws {
        try await RecordChanges(client: client, database: .private, zoneID: zoneID)
            .send([RecordOperation(kind, share)], output, ShareTable.list)
    }

    /// Fetches the share of a link, changes it, and sends it.
    ///
    /// - Throws: `WebClientError`, or `CommandFailure` when the service or the change refuses it.
    static func change(
        _ link: SharedLink,
        _ connection: ConnectionOptions,
        _ output: OutputOptions,
        _ change: (inout WireShare) throws -> Void
    ) async throws {
        let client = try connection.client()
        let known = try await link.resolved(by: client)
        guard known.databaseScope == "PRIVATE" else {
            throw CommandFailure("Only the owner changes a share; this one is somebody else's")
        }
        var share = WireRecord(
            recordName: known.share.recordName,
            recordType: WireRecord.shareType,
            recordChangeTag: known.share.recordChangeTag
        )
        var parts = WireShare(
            publicPermission: known.share.shareParts?.publicPermission,
            participants: known.share.shareParts?.participants ?? []
        )
        try change(&parts)
        share.shareParts = parts
        try await Self(client: client, zoneID: WireZoneID(zoneName: known.zoneID.zoneName))
            .send(.update, share, output)
    }

    /// Returns whether a participant is the user with a record name or an e-mail address.
    static func isParticipant(_ participant: WireParticipant, _ user: String) -> Bool {
        let identity = participant.userIdentity
        return identity?.userRecordName == user || identity?.lookupInfo?.userRecordName == user
            || identity?.lookupInfo?.emailAddress == user.lowercased()
    }
}
