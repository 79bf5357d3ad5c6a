import CloudKit
import GRDB

/// The databases that a store syncs with, each over a channel of its own.
enum SyncScope: Sendable {
    /// The user's own zone, and those in which the user shares.
    case own
    /// The zones that others share with the user.
    case shared
    /// The tables of the public database, which no engine syncs.
    case `public`

    func contains(_ zone: StoreZone) -> Bool {
        switch (self, zone) {
        case (.own, .own), (.own, .owned), (.shared, .shared), (.public, .public): true
        default: false
        }
    }

    /// Returns the zones that have rows here.
    func zones(_ database: Database) throws -> [StoreZone] {
        switch self {
        case .own: [.own] + (try StoreFile.ownedZones(database))
        case .shared: try StoreFile.sharedZones(database).filter(\.isShared)
        case .public: [.public]
        }
    }
}

/// The values that the parts of a channel share.
struct SyncContext: Sendable {
    let scope: SyncScope
    let database: CKDatabase
    let file: StoreFile
    let configuration: StoreConfiguration
    let reporter: SyncReporter

    /// Returns a zone of the channel; nil for one of another channel, or of no store.
    func zone(_ id: CKRecordZone.ID) -> StoreZone? {
        file.zone(id).flatMap { scope.contains($0) ? $0 : nil }
    }

    /// Groups items by their zones, in a fixed order, without those of other channels.
    func byZone<Item>(
        _ items: [Item],
        _ id: (Item) -> CKRecordZone.ID
    ) -> [(zone: StoreZone, items: [Item])] {
        var groups: [StoreZone: [Item]] = [:]
        for item in items {
            guard let zone = zone(id(item)) else { continue }
            groups[zone, default: []].append(item)
        }
        return groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension SyncContext {
    /// Returns names in portions of one request each.
    func portions(of names: [String]) -> [[String]] {
        let limit = configuration.batchLimit
        return stride(from: 0, to: names.count, by: limit).map { start in
            Array(names[start..<min(start + limit, names.count)])
        }
    }

    /// Downloads assets that rows lack because they came later than their records.
    func fillLacking() async throws {
        reporter.received(
            try await file.fillLacking(
                scope.contains,
                from: database,
                limit: configuration.batchLimit
            )
        )
    }
}
