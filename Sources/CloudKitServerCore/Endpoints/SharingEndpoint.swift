import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of links to shares: `records/resolve` and `records/accept`.
struct SharingEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `records/resolve`: returns the metadata of links to shares.
    func resolve(_ call: Call) async throws -> Data {
        let request = try call.message(SharesRequest.self)
        try call.checkCount(request.shortGUIDs.count, "shortGUIDs")
        try call.work.check(names: request.shortGUIDs.map(\.value))
        let links = try await context.links(for: call)
        return try await context.read(call) { reader in
            let directory = ShareDirectory(environment: call.environment.id)
            let user = call.caller.user
            let writer = ShareResponseWriter(call: call, user: user, reader: reader, links: links)
            return try writer.write(request.shortGUIDs) { guid in
                try Self.openShare(guid.value, call, directory, reader).row
            }
        }
    }

    /// Handles `records/accept`: accepts shares for the caller.
    func accept(_ call: Call) async throws -> Data {
        let request = try call.message(SharesRequest.self)
        try call.checkCount(request.shortGUIDs.count, "shortGUIDs")
        try call.work.check(names: request.shortGUIDs.map(\.value))
        let user = try call.user()
        let links = try await context.links(for: call)
        // It changes the zones of the shares' owners, who are not known before.
        let (response, news) = try await context.write(call, .everything) { writer in
            let shares = ShareResponseWriter(call: call, user: user, reader: writer, links: links)
            var news = PushNews()
            let body = try shares.write(request.shortGUIDs) { guid in
                let (row, isNew) = try accept(guid.value, call, user, writer)
                if isNew { news.formUnion(try notify(of: row, call, writer)) }
                return row
            }
            return (body, news)
        }
        context.pushes.announce(news)
        return response
    }

    /// Returns the share of a link that the caller may see; a share that is open to everyone needs
    /// no account.
    private static func openShare(
        _ shortGUID: String,
        _ call: Call,
        _ directory: ShareDirectory,
        _ reader: any StorageReader
    ) throws -> (row: StoredRecord, part: SharePart) {
        guard let share = try directory.share(shortGUID, reader) else {
            throw RequestError(.notFound, reason: "No share has the short GUID '\(shortGUID)'")
        }
        let caller = call.caller.user?.recordName
        guard share.part.participant(caller) != nil || share.part.isPublic else {
            // The caller may have been invited, which is known only after signing in.
            _ = try call.user()
            throw refusal(of: share.part)
        }
        return share
    }

    /// Returns the error for a caller who is not among a share's participants, but might have been
    /// invited at an address that no account has.
    private static func refusal(of share: SharePart) -> RequestError {
        let stranger = "The caller is not invited to the share '\(share.shortGUID)'"
        guard share.participants.contains(where: \.isInvitedByAddress) else {
            return RequestError(.accessDenied, reason: stranger)
        }
        return RequestError(
            .accessDenied,
            reason: stranger + ", unless under an address that no account has: give the caller's "
                + "account that address, and save the share again",
            nativeErrorCode: .participantMayNeedVerification
        )
    }

    private func accept(
        _ shortGUID: String,
        _ call: Call,
        _ user: StoredUser,
        _ writer: any StorageWriter
    ) throws -> (StoredRecord, isNew: Bool) {
        let directory = ShareDirectory(environment: call.environment.id)
        var (row, part) = try Self.openShare(shortGUID, call, directory, writer)
        guard var zone = try writer.zone(row.zone),
            let database = try writer.database(zone.database)
        else { throw StorageError(.corrupt, "A share has no zone") }
        // The owner already has access; a participant stays one.
        if database.owner == user.id { return (row, false) }
        if part.participant(user.recordName)?.acceptanceStatus == .accepted {
            // As after restoring a snapshot, which may contain the share without its newer participants.
            try directory.addMembership(of: user.id, in: row, writer)
            return (row, false)
        }
        try directory.addMember(user.id, of: zone.id, writer)
        var changes = SightChanges(
            zone: zone.id,
            directory: directory,
            largestTree: context.configuration.listedRecords
        )
        try changes.shareWillChange(writer)
        try part.accept(user)
        zone.headSequence += 1
        row.extra = try part.stored
        row.sequence = zone.headSequence
        row.modified = StoredRecord.Stamp(milliseconds: call.now, user: user.recordName)
        try writer.updateRecord(row)
        try directory.addMembership(of: user.id, in: row, writer)
        zone.changeSequence = database.headSequence + 1
        let news = try changes.result(writer)
        try changes.write(news, at: zone.changeSequence, &zone.headSequence, writer)
        try writer.setHeadSequence(database.id, zone.changeSequence)
        try writer.updateZone(zone)
        return (row, true)
    }

    /// Notifies the owner, the participants and the new participant's other devices.
    ///
    /// - Returns: The news to announce after the commit.
    private func notify(
        of share: StoredRecord,
        _ call: Call,
        _ writer: any StorageWriter
    ) throws -> PushNews {
        guard let zone = try writer.zone(share.zone),
            let database = try writer.database(zone.database),
            let owner = try database.owner.flatMap({ try writer.user($0) })
        else { throw StorageError(.corrupt, "A share has no zone") }
        var push = PushCommit(
            call: call,
            writer: writer,
            zone: ZoneView(zone, in: database, owner: owner.recordName),
            schema: try Schema(nil),
            randomness: context.randomness
        )
        try push.notify(of: [RecordChange(kind: .updated, record: share)])
        return push.news
    }
}

extension WireParticipant {
    /// `true` when the participant has an address but no known user yet.
    fileprivate var isInvitedByAddress: Bool {
        (acceptanceStatus == .invited || acceptanceStatus == .pending)
            && userIdentity?.userRecordName == nil
    }
}
