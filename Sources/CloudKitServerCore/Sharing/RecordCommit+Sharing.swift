import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordCommit {
    /// Refuses what the caller's shares do not open.
    func checkAccess(_ existing: StoredRecord?, parent: String?, _ name: String) throws {
        if let existing {
            guard try zone.access.mayWrite(existing, writer) else {
                throw RecordFailure(.accessDenied, "WRITE operation not permitted on '\(name)'")
            }
        } else {
            let mayCreate =
                try zone.access.mayCreate(below: parent, in: zone.zone.id, writer)
            guard mayCreate else {
                throw RecordFailure(
                    .accessDenied,
                    "CREATE operation not permitted on '\(name)': its parent is not in a "
                        + "hierarchy that is shared with the right to write"
                )
            }
        }
    }

    /// The share's own parts of a record that is about to be saved; nil for other records.
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
        let before = try existing?.extra.map { try SharePart(stored: $0) }
        let root = try before.map { $0.root } ?? rootName(of: wire, name)
        if before == nil { try checkUnshared(root, name) }
        var part = SharePart(
            root: root,
            publicPermission: wire.shareParts?.publicPermission ?? before?.publicPermission
                ?? .none,
            shortGUID: before?.shortGUID ?? shortGUID(name),
            participants: before?.participants ?? []
        )
        if part.participants.isEmpty { part.participants = [owner()] }
        if let asked = wire.shareParts?.participants {
            part.participants = try participants(asked, before: part.participants)
        }
        try ShareDirectory(environment: call.environment.id)
            .addLink(part.shortGUID, to: name, in: zone.zone.id, writer)
        if let root { newShares[root] = name }
        return part
    }

    /// Refuses a second share of a record, and one of a record in a zone that is shared as a whole.
    private func checkUnshared(_ root: String?, _ name: String) throws {
        guard let root else { return }
        if let other = try writer.record(zone.zone.id, name: root)?.share, other != name,
            try writer.record(zone.zone.id, name: other)?.isDeleted == false
        {
            throw RecordFailure(
                .badRequest,
                "\(ShareRefusal.alreadyShared.rawValue): '\(root)' is in the share '\(other)'"
            )
        }
        let whole = try writer.record(zone.zone.id, name: SharePart.zoneShareName)
        if whole?.isDeleted == false {
            throw RecordFailure(
                .badRequest,
                "\(ShareRefusal.zoneIsShared.rawValue): '\(zone.id.zoneName)', so that '\(root)' is "
                    + "shared with it"
            )
        }
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
        if batch.savedNames.contains(root) { return root }
        guard let row = try writer.record(zone.zone.id, name: root), !row.isDeleted else {
            throw RecordFailure(
                .badRequest,
                "Cannot share - no such record exists to share: '\(root)'"
            )
        }
        return root
    }

    /// A link's last part that nobody can guess.
    private func shortGUID(_ name: String) -> String {
        var writer = TokenWriter()
        writer.append(zone.zone.id.rawValue)
        writer.append(name)
        writer.append(sequence)
        let sealed = links.seal.sealForURL(writer.bytes, for: .shareLink)
        return "0" + String(sealed.filter(\.isLetter).suffix(24))
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

    /// The participants that the owner asks for, found among the users; who had accepted stays so.
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
            if let name, result.contains(where: { $0.userIdentity?.userRecordName == name }) {
                continue
            }
            let known = before.first {
                ($0.participantId != nil && $0.participantId == participant.participantId)
                    || (name != nil && $0.userIdentity?.userRecordName == name)
            }
            participant.acceptanceStatus = known?.acceptanceStatus ?? .invited
            participant.participantId =
                known?.participantId ?? participant.participantId ?? "p\(sequence)-\(result.count)"
            participant.type = participant.type ?? .user
            participant.permission = participant.permission ?? .readOnly
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

    /// Lets the roots of new shares name them.
    mutating func markRoots(_ outcomes: inout [RecordOutcome]) throws {
        for (root, share) in newShares.sorted(by: { $0.key < $1.key }) {
            guard var row = try writer.record(zone.zone.id, name: root), !row.isDeleted,
                row.share != share
            else { continue }
            let before = row
            row.share = share
            row.sequence = takeSequence()
            try writer.updateRecord(row)
            note(.updated, row, before: before)
            for index in outcomes.indices {
                if case .saved(let saved) = outcomes[index], saved.name == root {
                    outcomes[index] = .saved(row)
                }
            }
        }
    }

    /// Lets the caller leave a share that is not the caller's own; answers whether that was it.
    mutating func leave(_ record: StoredRecord) throws -> Bool {
        guard call.path.database == .shared, let extra = record.extra else { return false }
        var part = try SharePart(stored: extra)
        let user = call.caller.user?.recordName
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

    /// Lets the root of a deleted share forget it, unless the root goes too.
    mutating func forgetShare(_ record: StoredRecord, besides gone: Set<String>) throws {
        guard let extra = record.extra, let root = try SharePart(stored: extra).root,
            !gone.contains(root), var row = try writer.record(record.zone, name: root),
            !row.isDeleted
        else { return }
        let before = row
        row.share = nil
        row.sequence = takeSequence()
        try writer.updateRecord(row)
        note(.updated, row, before: before)
    }
}

extension ParticipantIdentity {
    /// A user as others see one.
    init(_ user: StoredUser) {
        self.init(
            userRecordName: user.recordName,
            nameComponents: user.givenName.map {
                UserIdentity.NameComponents(givenName: $0, familyName: user.familyName)
            },
            lookupInfo: UserIdentity.LookupInfo(
                emailAddress: user.emailAddress,
                userRecordName: user.recordName
            )
        )
    }

    /// Whether a user is meant.
    func isOf(_ user: StoredUser) -> Bool {
        if let name = userRecordName ?? lookupInfo?.userRecordName {
            return name == user.recordName
        }
        return lookupInfo?.emailAddress.map { $0.lowercased() == user.emailAddress } ?? false
    }
}
