import Foundation
import ServerFixtures

/// The fuzz client's model of permissions, written from the documentation without any code of the server.
struct SecrecyModel {
    /// A record of a zone, as its owner sees it.
    struct Record: Hashable {
        var name: String
        var parent: String?
        /// The secrets that its readers learn: the markers in its fields, and its files.
        var secrets: Set<String>
        /// The targets of its references that have an action.
        var ties: Set<String>
        var share: Share?
    }

    /// The additional parts of a share's record.
    struct Share: Hashable {
        /// The participants: the permission of each, and whether each has accepted.
        var guests: [String: Guest]
        var everyone: String
        var link: String
    }

    struct Guest: Hashable {
        var permission: String
        var hasAccepted: Bool
    }

    /// A custom zone, by its owner.
    struct Zone {
        var records: [String: Record] = [:]
        /// The root record of each share; a share of the whole zone has none.
        var roots: [String: String] = [:]

        /// Returns the names of a record and of all above it.
        func lineage(_ name: String) -> [String] {
            var names: [String] = []
            var next: String? = name
            while let name = next, !names.contains(name) {
                names.append(name)
                next = records[name]?.parent
            }
            return names
        }

        /// Returns the permissions of a user other than the owner for a record.
        func rights(of user: String, on name: String) -> Set<String> {
            let lineage = lineage(name)
            var rights: Set<String> = []
            for (shareName, record) in records {
                guard let share = record.share, share.guests[user]?.hasAccepted == true else {
                    continue
                }
                let reaches =
                    shareName == name || shareName == "cloudkit.zoneshare"
                    || roots[shareName].map(lineage.contains) == true
                if reaches { rights.formUnion(Self.rights(of: user, in: share)) }
            }
            return rights
        }

        /// Returns the permissions that a share grants to a user, whether or not they have accepted.
        static func rights(of user: String, in share: Share) -> Set<String> {
            var rights: Set<String> = []
            for permission in [share.guests[user]?.permission ?? "NONE", share.everyone] {
                if permission == "READ_ONLY" { rights.insert("read") }
                if permission == "READ_WRITE" { rights.formUnion(["read", "write"]) }
            }
            return rights
        }

        /// Returns whether a user may change another user's record, other than a share.
        func canWrite(_ user: String, _ name: String?) -> Bool {
            let isEverywhere = records["cloudkit.zoneshare"]?.share.map { share in
                share.guests[user]?.hasAccepted == true
                    && Self.rights(of: user, in: share).contains("write")
            }
            if isEverywhere == true { return true }
            guard let name else { return false }
            return rights(of: user, on: name).contains("write")
        }
    }

    /// A record of the public database.
    struct PublicRecord: Hashable {
        var type: String
        var creator: String
        var secrets: Set<String>
    }

    var zones: [String: Zone] = [:]
    var pub: [String: PublicRecord] = [:]
    /// The users who have the role `team`.
    var team: Set<String> = []
    /// The addresses that users have proved to know, by user.
    var knownAddresses: [String: Set<String>] = [:]

    /// Returns whether a user, or a caller without a user, may read a record of the public database.
    func mayRead(_ user: String?, _ record: PublicRecord) -> Bool {
        switch record.type {
        case "Letter": user != nil && user == record.creator
        case "Team": user.map(team.contains) == true
        default: true
        }
    }

    /// Returns whether a user, or a caller without a user, may change a record of the public database.
    func canWrite(_ user: String?, _ record: PublicRecord) -> Bool {
        guard let user else { return false }
        return switch record.type {
        case "Letter", "Wiki": true
        case "Team": team.contains(user)
        default: user == record.creator
        }
    }

    /// Returns all secrets that a user may learn.
    func secrets(for user: String?) -> Set<String> {
        var told: Set<String> = []
        for record in pub.values where mayRead(user, record) { told.formUnion(record.secrets) }
        guard let user else { return told }
        for (owner, zone) in zones {
            for (name, record) in zone.records {
                let isSeen = owner == user || zone.rights(of: user, on: name).contains("read")
                if isSeen { told.formUnion(record.secrets) }
            }
        }
        return told
    }

    /// Returns the secrets that a link shows to a user who has not accepted: those of the shared record.
    func secrets(through link: String, for user: String) -> Set<String> {
        for zone in zones.values {
            for (name, record) in zone.records {
                guard let share = record.share, share.link == link,
                    !Zone.rights(of: user, in: share).isEmpty, let root = zone.roots[name]
                else { continue }
                return zone.records[root]?.secrets ?? []
            }
        }
        return []
    }

    /// Returns the problem with a change of a zone by a user other than its owner.
    static func problem(
        from before: Zone,
        to after: Zone,
        by user: String,
        _ names: Set<String>
    ) -> String? {
        for name in names.sorted() {
            let (old, new) = (before.records[name], after.records[name])
            if old == new { continue }
            if let problem = problem(name, old, new, before, after, user) {
                return "\(problem) '\(name)'"
            }
        }
        return nil
    }

    /// Returns whether a user was a participant of a share and no longer is.
    private static func hasLeft(_ user: String, _ before: Zone, _ after: Zone) -> Bool {
        before.records.contains { name, record in
            record.share?.guests[user]?.hasAccepted == true
                && after.records[name]?.share?.guests[user]?.hasAccepted != true
        }
    }

    private static func problem(
        _ name: String,
        _ old: Record?,
        _ new: Record?,
        _ before: Zone,
        _ after: Zone,
        _ user: String
    ) -> String? {
        if let share = old?.share {
            // Participants may leave, and accept.
            guard let now = new?.share else { return "deleted the share" }
            var guests = share.guests
            guests[user] = now.guests[user]
            let isTheirs = guests == now.guests && share.everyone == now.everyone
            return isTheirs ? nil : "changed the share"
        }
        if new?.share != nil { return "made the share" }
        if old != nil, !before.canWrite(user, name) { return "changed" }
        guard let new else {
            return before.canWrite(user, old?.parent) ? nil : "took away"
        }
        if old == nil || old?.parent != new.parent {
            if old != nil, !before.canWrite(user, old?.parent) { return "moved away" }
            // A user who may delete a record may also leave it to the owner, at the top of the zone.
            let isLeft = old != nil && new.parent == nil
            // A user who leaves a share in the same request keeps its permissions until the end of
            // the request.
            let mayHave = hasLeft(user, before, after) && before.canWrite(user, new.parent)
            guard isLeft || mayHave || after.canWrite(user, new.parent) else {
                return "moved out of reach"
            }
        }
        for target in new.ties.subtracting(old?.ties ?? []) where target != name {
            // A nonexistent record is not tied to anything.
            guard before.records[target] != nil || after.records[target] != nil else { continue }
            let isTheirs = after.canWrite(user, target) || before.canWrite(user, target)
            if !isTheirs { return "tied '\(target)' to" }
        }
        return nil
    }
}
