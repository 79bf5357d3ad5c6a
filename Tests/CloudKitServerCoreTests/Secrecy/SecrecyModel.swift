import Foundation
import ServerFixtures

/// What the fuzz client knows about who may see and change what: written from the documents, with no
/// code of the server's.
struct SecrecyModel {
    /// A record of a zone, as its owner sees it.
    struct Record: Hashable {
        var name: String
        var parent: String?
        /// What it tells who sees it: the markers in its fields, and its files.
        var secrets: Set<String>
        /// The targets of its references that have an action.
        var ties: Set<String>
        var share: Share?
    }

    /// What a share's record has besides.
    struct Share: Hashable {
        /// Who takes part: what each may do, and whether each has accepted.
        var guests: [String: Guest]
        var everyone: String
        var link: String
    }

    struct Guest: Hashable {
        var permission: String
        var hasAccepted: Bool
    }

    /// A custom zone by its owner.
    struct Zone {
        var records: [String: Record] = [:]
        /// The record that each share opens; a share of the whole zone opens none by itself.
        var roots: [String: String] = [:]

        /// The names of a record and of all above it.
        func lineage(_ name: String) -> [String] {
            var names: [String] = []
            var next: String? = name
            while let name = next, !names.contains(name) {
                names.append(name)
                next = records[name]?.parent
            }
            return names
        }

        /// What somebody who is not the owner may do with a record.
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

        /// What a share gives a user, whether or not they have accepted.
        static func rights(of user: String, in share: Share) -> Set<String> {
            var rights: Set<String> = []
            for permission in [share.guests[user]?.permission ?? "NONE", share.everyone] {
                if permission == "READ_ONLY" { rights.insert("read") }
                if permission == "READ_WRITE" { rights.formUnion(["read", "write"]) }
            }
            return rights
        }

        /// Whether somebody may change a record that is not theirs, other than a share.
        func mayWrite(_ user: String, _ name: String?) -> Bool {
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
    /// The addresses that users have shown to know, by user.
    var knownAddresses: [String: Set<String>] = [:]

    /// Whether a user, or nobody, may read a record of the public database.
    func mayRead(_ user: String?, _ record: PublicRecord) -> Bool {
        switch record.type {
        case "Letter": user != nil && user == record.creator
        case "Team": user.map(team.contains) == true
        default: true
        }
    }

    /// Whether a user, or nobody, may change a record of the public database.
    func mayWrite(_ user: String?, _ record: PublicRecord) -> Bool {
        guard let user else { return false }
        return switch record.type {
        case "Letter", "Wiki": true
        case "Team": team.contains(user)
        default: user == record.creator
        }
    }

    /// All secrets that a user may be told.
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

    /// What a link shows a user who has not accepted: the record that is shared.
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

    /// What is wrong about a change of a zone that somebody made who does not own it.
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

    /// Whether somebody took part in a share, and does no longer.
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
            // Who takes part may leave, and accept.
            guard let now = new?.share else { return "deleted the share" }
            var guests = share.guests
            guests[user] = now.guests[user]
            let isTheirs = guests == now.guests && share.everyone == now.everyone
            return isTheirs ? nil : "changed the share"
        }
        if new?.share != nil { return "made the share" }
        if old != nil, !before.mayWrite(user, name) { return "changed" }
        guard let new else {
            return before.mayWrite(user, old?.parent) ? nil : "took away"
        }
        if old == nil || old?.parent != new.parent {
            if old != nil, !before.mayWrite(user, old?.parent) { return "moved away" }
            // Who may delete a record may leave it to the owner, at the top of the zone.
            let isLeft = old != nil && new.parent == nil
            // Who leaves a share in the same request has its rights to the request's end.
            let mayHave = hasLeft(user, before, after) && before.mayWrite(user, new.parent)
            guard isLeft || mayHave || after.mayWrite(user, new.parent) else {
                return "moved out of reach"
            }
        }
        for target in new.ties.subtracting(old?.ties ?? []) where target != name {
            // What is not there is tied to nothing.
            guard before.records[target] != nil || after.records[target] != nil else { continue }
            let isTheirs = after.mayWrite(user, target) || before.mayWrite(user, target)
            if !isTheirs { return "tied '\(target)' to" }
        }
        return nil
    }
}
