import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation

/// An oracle that computes the rows that each user must see from the service's records, and
/// compares the rows of the devices; it does not use the store.
struct FamilyOracle: Sendable {
    /// The content of a user's zone.
    struct Zone {
        var records: [String: CKRecord] = [:]
        var shares: [String: CKShare] = [:]

        /// Returns the roots of the trees that a user participates in, and whether the user may
        /// write there.
        func tops(for user: String) -> [String: Bool] {
            var tops: [String: Bool] = [:]
            for (name, record) in records {
                guard let share = record.share.flatMap({ shares[$0.recordID.recordName] }) else {
                    continue
                }
                let part = share.participants.first {
                    $0.role != .owner && $0.userIdentity.userRecordID?.recordName == user
                }
                guard let part, part.acceptanceStatus == .accepted else { continue }
                tops[name] = part.permission == .readWrite
            }
            return tops
        }

        /// Returns whether a user who takes part in the zone as a whole may write there; nil for others.
        func wholeRight(of user: String) -> Bool? {
            let part = shares[CKRecordNameZoneWideShare]?.participants.first {
                $0.role != .owner && $0.userIdentity.userRecordID?.recordName == user
            }
            guard let part, part.acceptanceStatus == .accepted else { return nil }
            return part.permission == .readWrite
        }

        /// Returns the records that a user sees, and whether the user may write them.
        func visible(to user: String) -> [String: Bool] {
            if let writes = wholeRight(of: user) { return records.mapValues { _ in writes } }
            let tops = tops(for: user)
            var visible: [String: Bool] = [:]
            for name in records.keys {
                var current: String? = name
                var depth = 0
                while let here = current, depth < 100 {
                    if let writes = tops[here] {
                        visible[name] = visible[name] == true || writes
                    }
                    current = records[here]?.parent?.recordID.recordName
                    depth += 1
                }
            }
            return visible
        }

        /// Returns those of some records that are rows: the others require records that are missing.
        func shown(of visible: [String: Bool]) -> [String: Bool] {
            visible.filter { name, _ in
                FamilyOracle.requiredColumns.allSatisfy { column in
                    target(of: column, name).map { visible[$0] != nil } ?? true
                }
            }
        }

        /// Returns the visible records whose keys belong to other rows, with those below them.
        func waiting(among visible: [String: Bool], taken: Set<String>) -> Set<String> {
            Set(visible.keys).filter { name in
                var current: String? = name
                var depth = 0
                while let here = current, visible[here] != nil, depth < 100 {
                    if taken.contains(here) { return true }
                    current = target(of: "parent", here) ?? target(of: "board", here)
                    depth += 1
                }
                return false
            }
        }

        /// The references to deleted records, for which the owner's device would show NULL.
        var danglingReferences: [String] {
            records.keys.sorted().flatMap { name in
                FamilyOracle.columns.compactMap { column in
                    guard let target = target(of: column, name), records[target] == nil else {
                        return nil
                    }
                    return "\(name) refers to \(target) in \(column), which is gone"
                }
            }
        }

        private func target(of column: String, _ name: String) -> String? {
            (records[name]?[column] as? CKRecord.Reference)?.recordID.recordName
        }
    }

    /// The columns that refer to cards and may not be NULL.
    private static let requiredColumns = ["needed", "card"]

    let users: [TestCloud.User]
    /// A container of each user, without a store.
    let observers: [CKContainer]

    /// Returns all records of the service, by owner.
    func zones() async throws -> [Zone] {
        var zones: [Zone] = []
        for observer in observers {
            var zone = Zone()
            var token: CKServerChangeToken?
            repeat {
                do {
                    let page = try await observer.privateCloudDatabase.recordZoneChanges(
                        inZoneWith: Device.zoneID,
                        since: token
                    )
                    for (id, result) in page.modificationResultsByID {
                        let record = try result.get().record
                        if let share = record as? CKShare {
                            zone.shares[id.recordName] = share
                        } else {
                            zone.records[id.recordName] = record
                        }
                    }
                    token = page.moreComing ? page.changeToken : nil
                } catch let error as CKError where error.code == .zoneNotFound {
                    token = nil
                }
            } while token != nil
            zones.append(zone)
        }
        return zones
    }

    /// Returns the links of shares that a user is invited to and has not accepted.
    func invitations(of user: Int) async throws -> [URL] {
        var links: [URL] = []
        for zone in try await zones() {
            for share in zone.shares.values {
                let part = share.participants.first {
                    $0.role != .owner
                        && $0.userIdentity.userRecordID?.recordName == users[user].recordName
                }
                if let part, part.acceptanceStatus != .accepted, let url = share.url {
                    links.append(url)
                }
            }
        }
        return links.sorted { $0.absoluteString < $1.absoluteString }
    }

    /// Returns the user in whose zone a new row belongs that is below no other: of the owners whose
    /// whole zones its user may write, the one whose name sorts first, or else the user.
    func owner(ofNewRowsOf user: Int, in zones: [Zone]) -> Int {
        let name = users[user].recordName
        let owners = users.indices.filter { $0 != user && zones[$0].wholeRight(of: name) == true }
        return owners.min { users[$0].recordName < users[$1].recordName } ?? user
    }

    // MARK: Comparing

    /// Returns the users in the order in which their rows have a key that several of them use: the device's
    /// own user, then the others by name.
    private func precedence(for user: Int) -> [Int] {
        let others = users.indices.filter { $0 != user }
        return [user] + others.sorted { users[$0].recordName < users[$1].recordName }
    }

    /// Returns the problems of a device's rows.
    func check(_ device: SimulatedDevice, against zones: [Zone]) throws -> [String] {
        let user = users[device.user].recordName
        var expected: SimulatedApp.Contents = [:]
        var barred: Set<String> = []
        var taken: Set<String> = []
        for owner in precedence(for: device.user) {
            let zone = zones[owner]
            let isOwn = owner == device.user
            let inSight = isOwn ? zone.records.mapValues { _ in true } : zone.visible(to: user)
            let waiting = zone.waiting(among: inSight, taken: taken)
            let visible = zone.shown(of: inSight.filter { !waiting.contains($0.key) })
            // What waits leaves its key to another user's row that does not, unless it is the user's own.
            taken.formUnion(isOwn ? Array(inSight.keys) : Array(visible.keys))
            for (name, writes) in visible {
                guard let record = zone.records[name] else { continue }
                let key = Self.key(name)
                expected[key] = try Self.row(record) { visible[$0] != nil }
                if !writes { barred.insert(key) }
            }
        }
        var problems: [String] = []
        let shown = try device.contents()
        for key in Set(expected.keys).union(shown.keys).sorted() {
            switch (expected[key], shown[key].map(Self.compared)) {
            case (let row?, nil): problems.append("\(device.name) lacks \(key): \(row)")
            case (nil, let row?): problems.append("\(device.name) shows \(key) still: \(row)")
            case (let row, let found) where row != found:
                problems.append("\(device.name) has \(key) as \(found ?? [:]), not \(row ?? [:])")
            default: break
            }
        }
        let refused = try device.barredRows().intersection(shown.keys)
        if refused != barred {
            problems.append("\(device.name) bars \(refused.sorted()), not \(barred.sorted())")
        }
        let own = zones[device.user]
        if own.shares.count > 1, own.shares[CKRecordNameZoneWideShare] != nil {
            problems.append("\(device.name)'s zone is shared as a whole, and so are trees in it")
        }
        return problems + links(shown, own, device.name) + own.danglingReferences
    }

    /// Checks that the records of an owner's zone are linked like the rows: below the root of a
    /// share, each to the row above it.
    private func links(
        _ rows: SimulatedApp.Contents,
        _ zone: Zone,
        _ device: String
    ) -> [String] {
        let tops = Set(zone.records.filter { $0.value.share != nil }.keys.map(Self.key))
        var problems: [String] = []
        for (name, record) in zone.records.sorted(by: { $0.key < $1.key }) {
            let key = Self.key(name)
            let above = Self.above(rows[key])
            var current: String? = key
            var depth = 0
            while let here = current, !tops.contains(here), depth < 100 {
                current = Self.above(rows[here])
                depth += 1
            }
            let isShared = current.map(tops.contains) ?? false
            let parent = record.parent.map { Self.key($0.recordID.recordName) }
            let isRight =
                tops.contains(key)
                ? parent == nil : parent == above || (parent == nil && !isShared)
            if !isRight {
                problems.append(
                    "\(key) of \(device) is below \(parent ?? "none"), not \(above ?? "none")"
                )
            }
        }
        return problems
    }

    /// Returns the row above a row.
    private static func above(_ row: [String: StoreValue]?) -> String? {
        guard case .text(let key)? = row?["parent"] ?? row?["board"] else { return nil }
        return "board/\(key)"
    }

    private static func key(_ name: String) -> String { name.replacing(":", with: "/") }

    /// The compared columns.
    private static let columns = [
        "name", "title", "body", "parent", "board", "related", "origin", "needed", "card",
    ]

    private static func compared(_ row: [String: StoreValue]) -> [String: StoreValue] {
        row.filter { (columns + ["due"]).contains($0.key) && !$0.value.isNull }
    }

    /// Returns a record as the row that it must be; references to records out of sight are NULL.
    ///
    /// A card's due date is written only with its title, and must be the value that SQLite then derived.
    private static func row(
        _ record: CKRecord,
        isVisible: (String) -> Bool
    ) throws -> [String: StoreValue] {
        var row: [String: StoreValue] = [:]
        if record.recordType == "card", let title = record["title"] as? String,
            let number = Int(title.dropFirst())
        {
            row["due"] = try SimulatedValue.dueDate(number)
        }
        for column in columns {
            if let text = record[column] as? String { row[column] = .text(text) }
            guard let reference = record[column] as? CKRecord.Reference,
                isVisible(reference.recordID.recordName)
            else { continue }
            let name = reference.recordID.recordName
            row[column] = .text(String(name[name.index(after: name.firstIndex(of: ":")!)...]))
        }
        return row
    }
}
