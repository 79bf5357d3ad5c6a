import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordCommit {
    /// Returns the share's own parts of a record that is about to be saved; nil for other records.
    mutating func sharePart(
        of wire: WireRecord,
        _ name: String,
        over existing: StoredRecord?
    ) throws -> SharePart? {
        guard (existing?.type ?? wire.recordType) == WireRecord.shareType else { return nil }
        guard call.path.database == .private, !zone.isDefault else {
            throw RecordFailure(
                .badRequest,
                "The share '\(name)' can be saved in a custom zone of its owner only"
            )
        }
        // Nothing of a damaged share can be kept.
        let known = existing.flatMap { $0.isDamaged ? nil : $0 }
        let before = try known?.sharePart
        // The root of an existing share never changes.
        let root = try before.map { $0.root } ?? rootName(of: wire, name)
        if before == nil { try checkUnshared(root, name) }
        var part = SharePart(
            root: root,
            publicPermission: wire.shareParts?.publicPermission ?? before?.publicPermission
                ?? .none,
            shortGUID: try before?.shortGUID ?? shortGUID(of: root),
            participants: before?.participants ?? []
        )
        if part.participants.isEmpty { part.participants = [owner()] }
        if let asked = wire.shareParts?.participants {
            part.participants = try participants(asked, before: part.participants)
            if let before { try checkEdits(from: before, to: part, name) }
        }
        part.followPublicPermission(after: before)
        try ShareDirectory(environment: call.environment.id)
            .addLink(part.shortGUID, to: name, in: zone.zone.id, writer)
        if let root { newShares[root] = name }
        return part
    }

    /// Refuses a second share of a record, one that overlaps another, one of a record in a zone
    /// that is shared as a whole, and one of a whole zone that has other shares.
    private mutating func checkUnshared(_ root: String?, _ name: String) throws {
        guard let root else { return try checkHoldsNoShares(name) }
        // The root itself names its share only at the end of the batch.
        if let other = try newShares[root] ?? writer.record(zone.zone.id, name: root)?.share,
            other != name, try isLive(other)
        {
            throw RecordFailure(
                .badRequest,
                "\(ShareRefusal.alreadyShared.rawValue): '\(root)' is in the share '\(other)'"
            )
        }
        let parent = try writer.record(zone.zone.id, name: root)?.parent
        try checkOverlap(of: root, isShared: true, from: nil, to: parent)
        try checkDepth(of: root, from: nil, to: nil)
        if try isLive(SharePart.zoneShareName) {
            throw RecordFailure(
                .badRequest,
                "\(ShareRefusal.zoneIsShared.rawValue): '\(zone.id.zoneName)', so that '\(root)' is "
                    + "shared with it"
            )
        }
    }

    private func checkHoldsNoShares(_ name: String) throws {
        let others = try newShares.values.sorted() + writer.shares(zone.zone.id)
        guard let other = try others.first(where: { try $0 != name && isLive($0) }) else { return }
        throw RecordFailure(
            .badRequest,
            "Zone '\(zone.id.zoneName)' cannot be shared as a whole: it holds the share '\(other)' of "
                + "a record; delete such shares first"
        )
    }

    /// `true` when parts of the zone can be shared: not in the public database or in a default zone.
    var isShareable: Bool { zone.database.owner != nil && !zone.isDefault }

    /// Records that a record is about to change the part of the zone that participants see.
    mutating func noteSightChange(
        from row: StoredRecord?,
        to parent: String?,
        isShare: Bool
    ) throws {
        guard isShareable else { return }
        if isShare { try sightChanges.shareWillChange(writer) }
        if let row, row.isDeleted || row.parent != parent {
            try sightChanges.willMove(row, writer)
        }
    }

    func isLive(_ name: String) throws -> Bool {
        try writer.record(zone.zone.id, name: name)?.isDeleted == false
    }

    private func rootName(of wire: WireRecord, _ name: String) throws -> String? {
        guard let root = wire.shareParts?.forRecord?.recordName else {
            guard name == SharePart.zoneShareName else {
                throw RecordFailure(
                    .badRequest,
                    "The share '\(name)' names no record to share in forRecord; a share of the "
                        + "whole zone is called '\(SharePart.zoneShareName)'"
                )
            }
            return nil
        }
        // If the save of the root fails, so does the whole batch.
        if batch.isAtomic, batch.saves(root) { return root }
        guard try isLive(root) else {
            if let cause = failures[root] {
                throw cause.passedOn("The share '\(name)' shares '\(root)'", otherwise: .badRequest)
            }
            throw RecordFailure(
                .badRequest,
                "Cannot share - no such record exists to share: '\(root)'"
            )
        }
        return root
    }

    /// Returns the last part of the link of a record, or of the zone as a whole.
    ///
    /// It is the same each time that the record is shared, and cannot be guessed without the
    /// service's key.
    private func shortGUID(of root: String?) throws -> String {
        var contents = TokenWriter()
        // Links once had other contents, which began with a zone; no zone has this number.
        contents.append(0)
        contents.append(zone.zone.id.rawValue)
        contents.append(zone.zone.incarnation)
        if let root {
            // A record that was deleted and created again is a different one.
            let row = try writer.record(zone.zone.id, name: root)
            if let known = row?.rootPart?.shortGUID { return known }
            let isThere = row?.isDeleted == false
            contents.append(isThere ? row?.created.milliseconds ?? call.now : call.now)
            contents.append(root)
        }
        let secret = Data(links.seal.secret(of: contents.bytes, for: .shareLink))
        let symbols = secret.base64EncodedString().filter { $0.isLetter || $0.isNumber }
        return "0" + symbols.prefix(24)
    }

    /// Returns the root's parts of a record that is about to be saved; nil for a record that is no
    /// root and does not request a short GUID.
    func rootPart(
        of wire: WireRecord,
        _ name: String,
        over existing: StoredRecord?
    ) throws -> RootPart? {
        if let known = existing?.rootPart { return known }
        guard isShareable, wire.createShortGUID == true, wire.recordType != WireRecord.shareType
        else { return nil }
        return RootPart(shortGUID: try guid(ofShare: existing?.share) ?? shortGUID(of: name))
    }

    private func guid(ofShare name: String?) throws -> String? {
        try name.flatMap { try writer.record(zone.zone.id, name: $0)?.sharePart?.shortGUID }
    }

    private func owner() -> WireParticipant {
        WireParticipant(
            participantId: "owner",
            type: .owner,
            permission: .readWrite,
            acceptanceStatus: .accepted,
            userIdentity: call.caller.user.map(ParticipantIdentity.init)
        )
    }

    /// Returns the participants that the owner requested, found among the users; acceptances are kept.
    private func participants(
        _ asked: [WireParticipant],
        before: [WireParticipant]
    ) throws -> [WireParticipant] {
        let users = try writer.users(container: call.environment.container)
        var result = Array(before.prefix(1))
        for participant in asked where participant.type != .owner {
            var participant = participant
            if let user = users.first(where: { participant.userIdentity?.isOf($0) ?? false }) {
                var identity = ParticipantIdentity(user)
                identity.lookupInfo = participant.userIdentity?.lookupInfo ?? identity.lookupInfo
                participant.userIdentity = identity
            }
            let name = participant.userIdentity?.userRecordName
            // A user who is named twice is one participant.
            if let name, result.contains(where: { $0.userIdentity?.userRecordName == name }) {
                continue
            }
            let known = before.dropFirst().first {
                ($0.participantId != nil && $0.participantId == participant.participantId)
                    || (name != nil && $0.userIdentity?.userRecordName == name)
            }
            participant.acceptanceStatus = known?.acceptanceStatus ?? .invited
            participant.participantId =
                known?.participantId ?? participant.participantId ?? "p\(sequence)-\(result.count)"
            participant.type = participant.type ?? known?.type ?? .user
            participant.permission = participant.permission ?? known?.permission ?? .readOnly
            result.append(participant)
        }
        guard result.count <= Limits.participantsPerShare else {
            throw RecordFailure(
                .badRequest,
                "\(ShareRefusal.tooManyParticipants.rawValue): \(result.count), at most "
                    + "\(Limits.participantsPerShare) with the owner"
            )
        }
        return result
    }

    /// Refuses to change participants and their permissions while the share is open to everyone.
    private func checkEdits(from before: SharePart, to part: SharePart, _ name: String) throws {
        guard before.isPublic, part.isPublic, !before.hasSameParticipants(as: part) else { return }
        throw RecordFailure(
            .badRequest,
            "The participants of the share '\(name)' cannot be changed as long as everyone with the "
                + "link is let in; set its publicPermission to NONE first"
        )
    }

    /// Sets the share names in the roots of new shares.
    mutating func markRoots(_ outcomes: inout [RecordOutcome]) throws {
        for (root, share) in newShares.sorted(by: { $0.key < $1.key }) {
            guard var row = try writer.record(zone.zone.id, name: root), !row.isDeleted,
                !row.isDamaged, row.share != share
            else { continue }
            let before = row
            row.share = share
            // A share may be named as a root, too, and keeps its own parts.
            if row.type != WireRecord.shareType, let guid = try guid(ofShare: share) {
                row.extra = try RootPart(shortGUID: guid).stored
            }
            // A new version, so that other devices fetch the root with its share.
            row.sequence = takeSequence()
            try writer.updateRecord(row)
            try reindex(row, since: before)
            note(.updated, row, before: before)
            for index in outcomes.indices {
                if case .saved(let saved) = outcomes[index], saved.name == root {
                    outcomes[index] = .saved(row)
                }
            }
        }
    }

    /// Removes the caller from another user's share; returns whether the record was one.
    ///
    /// Only its owner can delete a share, and only participants can leave it.
    mutating func leave(_ record: StoredRecord) throws -> Bool {
        guard call.path.database == .shared, !record.isDamaged, var part = try record.sharePart
        else { return false }
        guard let user = call.caller.user?.recordName,
            part.opening(for: user, share: record.name) != nil
        else {
            throw RecordFailure(.accessDenied, "WRITE operation not permitted on '\(record.name)'")
        }
        try sightChanges.shareWillChange(writer)
        part.participants.removeAll {
            $0.userIdentity?.userRecordName == user && $0.type != .owner
        }
        var row = record
        row.extra = try part.stored
        row.sequence = takeSequence()
        row.modified = stamp
        try writer.updateRecord(row)
        note(.updated, row, before: record)
        return true
    }

    /// Clears the share name in the root of a deleted share, unless the root is deleted too.
    mutating func forgetShare(_ record: StoredRecord, besides gone: Set<String>) throws {
        guard !record.isDamaged, let root = try record.sharePart?.root,
            !gone.contains(root), var row = try writer.record(record.zone, name: root),
            !row.isDeleted, !row.isDamaged
        else { return }
        let before = row
        row.share = nil
        row.sequence = takeSequence()
        try writer.updateRecord(row)
        try reindex(row, since: before)
        note(.updated, row, before: before)
    }
}

extension ParticipantIdentity {
    /// Creates the identity of a user as others see it: without addresses, which are shown only to
    /// users who know them.
    init(_ user: StoredUser) {
        self.init(
            userRecordName: user.recordName,
            nameComponents: user.givenName.map {
                UserIdentity.NameComponents(givenName: $0, familyName: user.familyName)
            },
            lookupInfo: UserIdentity.LookupInfo(userRecordName: user.recordName)
        )
    }

    /// Returns whether the participant is a user.
    func isOf(_ user: StoredUser) -> Bool {
        if let name = userRecordName ?? lookupInfo?.userRecordName {
            return name == user.recordName
        }
        return lookupInfo?.emailAddress.map { $0.lowercased() == user.emailAddress } ?? false
    }
}
