public import CloudKit
import GRDB

extension CloudStore {
    /// Shares a row with all rows below it, or changes an existing share.
    ///
    /// ```swift
    /// let share = try await store.share(list.id, in: "list") { share in
    ///     share[CKShare.SystemFieldKey.title] = "Shopping"
    ///     share.publicPermission = .readWrite
    /// }
    /// print(share.url as Any)
    /// ```
    ///
    /// Rows are below the row that their table's `parent` column refers to, including rows added
    /// later. The sync that this call starts links their records to each other.
    ///
    /// - Parameters:
    ///   - key: The row's key: the value as text, bytes in hexadecimal, several columns as a JSON
    ///     array.
    ///   - table: The table's name.
    ///   - ifIncomplete: The action when rows below it refer, in columns that may not be NULL, to
    ///     rows that are not shared with it; ``sharePlan(of:in:)`` lists them.
    ///   - configure: A closure that sets title, public permission and participants; called again
    ///     when someone else changed the share meanwhile.
    /// - Returns: The share, with its link.
    /// - Throws: A ``CloudStoreError`` for a row that cannot be shared: one that another user owns,
    ///   one that is shared with the row above it, one that was never sent, or one that is not here;
    ///   a `CKError`, or an error of the database.
    @discardableResult
    public func share(
        _ key: String,
        in table: String,
        ifIncomplete: IncompleteShare = .refuse,
        configure: @Sendable (CKShare) -> Void = { _ in }
    ) async throws -> CKShare {
        try checkFormat()
        try checkTop(schema(table))
        if ifIncomplete == .refuse { try await checkComplete(key, table) }
        try await sync()
        let id = try await sharedID(key, table, owned: true)
        let (saved, share): ([CKRecord], CKShare)
        do {
            (saved, share) = try await saveShare(of: id, configure)
        } catch let error as CKError where !Acknowledgements.isUnanswered(error) {
            // Asked for only then: whether everything is shared is on the server.
            guard try await shareOfEverything() != nil else { throw error }
            throw CloudStoreError(
                .notShared,
                "The row '\(key)' of the table '\(table)' is shared already: everything is, so no row can "
                    + "have a share of its own; change that share with shareEverything(configure:), or end "
                    + "it with unshareEverything() first"
            )
        }
        try await note(RowKey(table: table, text: key), saved, share)
        try await sync()
        return saved.last as? CKShare ?? share
    }

    /// Saves the share of a record, or changes an existing one.
    private func saveShare(
        of id: CKRecord.ID,
        _ configure: @Sendable (CKShare) -> Void
    ) async throws -> ([CKRecord], CKShare) {
        try await repeatingConflicts {
            let root = try await database.record(for: id)
            let share: CKShare
            var records: [CKRecord] = [root]
            if let known = root.share {
                guard let found = try await database.record(for: known.recordID) as? CKShare else {
                    throw CKError(.unknownItem)
                }
                share = found
                records = []
            } else {
                // It may have been shared with the row above it before.
                root.parent = nil
                share = CKShare(rootRecord: root)
            }
            configure(share)
            return (try await save(records + [share]), share)
        }
    }

    /// Returns the share of which a row is the root, as the server has it; nil when there is none.
    ///
    /// - Throws: A ``CloudStoreError`` for a row that was never sent, a `CKError`, or an error of the
    ///   database.
    public func share(of key: String, in table: String) async throws -> CKShare? {
        let id = try await sharedID(key, table)
        let database = database(of: id)
        guard let share = try await database.record(for: id).share else { return nil }
        return try await database.record(for: share.recordID) as? CKShare
    }

    /// Stops sharing one of the user's own rows: it stays here and is removed from the
    /// participants' devices.
    ///
    /// - Throws: A ``CloudStoreError`` for a row that is not the root of one of the user's own
    ///   shares, or that another device deleted with its share; a `CKError`, or an error of the database.
    public func unshare(_ key: String, in table: String) async throws {
        let id = try await sharedID(key, table, owned: true)
        let root: CKRecord
        do {
            root = try await database.record(for: id)
        } catch let error as CKError where error.code == .unknownItem {
            throw CloudStoreError(
                .noSuchRow,
                "The row '\(key)' of the table '\(table)' was deleted on another device, and its share ended "
                    + "with it; sync, and it goes from here, too"
            )
        }
        guard let share = root.share else {
            throw CloudStoreError(
                .notShared,
                "The row '\(key)' of the table '\(table)' is not the root of a share"
            )
        }
        try await database.deleteRecord(withID: share.recordID)
        let rowKey = RowKey(table: table, text: key)
        let mapping = file.mapping
        try await file.writer.write { database in
            _ = try Place.forgetShare(database, share.recordID.recordName, .own)
            try SharedTrees(database, mapping).settle([rowKey], includesBelow: true)
        }
        try await sync()
    }

    /// Accepts a share; the sync that this call starts fetches its rows.
    ///
    /// - Throws: A ``CloudStoreError`` when the configuration excludes shared rows; a `CKError`, or
    ///   an error of the database.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> SyncSummary {
        guard configuration.includesSharedRows else {
            throw CloudStoreError(
                .notShared,
                "The store excludes shared rows; set includesSharedRows in its configuration"
            )
        }
        try await container.accept(metadata)
        return try await sync()
    }

    /// Leaves the share of a row that another user owns: its rows are removed from here and stay
    /// with the owner.
    ///
    /// Unsent edits are in the journal. A share that waits because its root has the key of one of
    /// this user's own rows is left by that key.
    ///
    /// - Parameters:
    ///   - key: The key of the row that is the root of the share.
    ///   - table: The table's name.
    /// - Throws: A ``CloudStoreError`` for a row that is not here, or not the root of another user's
    ///   share; a `CKError`, or an error of the database.
    public func leave(_ key: String, in table: String) async throws {
        guard let id = try await joinedShare(of: key, in: table) else {
            try await checkExists(key, in: table)
            throw CloudStoreError(
                .notShared,
                "The row '\(key)' of the table '\(table)' is not the root of another user's share"
            )
        }
        do {
            try await container.sharedCloudDatabase.deleteRecord(withID: id)
        } catch let error as CKError
            where [.zoneNotFound, .unknownItem, .permissionFailure].contains(error.code)
        {
            // The owner ended the share first: a participant may always leave. The fetched changes
            // handle the rest.
        }
        try await sync()
    }

    /// Returns whether a row may be changed here: every row except those that others share read-only.
    ///
    /// - Throws: An error of the database.
    public func canWrite(_ key: String, in table: String) async throws -> Bool {
        let rowKey = RowKey(table: table, text: key)
        return try await file.read { try Place.fetch($0, rowKey)?.writes } ?? true
    }

    // MARK: Parts

    /// Returns the share of another user of which a row is the root, or a record that was quarantined
    /// because it has the row's key; nil when there is none.
    private func joinedShare(of key: String, in table: String) async throws -> CKRecord.ID? {
        let rowKey = RowKey(table: table, text: key)
        let name = try rowKey.recordName(schema(table))
        let found = try await file.read { database -> (zone: StoreZone, share: String)? in
            if let place = try Place.fetch(database, rowKey), place.zone != .own,
                let share = place.share
            {
                return (place.zone, share)
            }
            for known in try TakenKeys.quarantined(database)
            where known.recordName == name && known.zone.isShared {
                guard let share = known.archived()?.share else { continue }
                return (known.zone, share.recordID.recordName)
            }
            return nil
        }
        return found.map { CKRecord.ID(recordName: $0.share, zoneID: file.id($0.zone)) }
    }

    /// Checks that a row is on this device.
    func checkExists(_ key: String, in table: String) async throws {
        let schema = try schema(table)
        let mapping = file.mapping
        let row = try await file.read { database in
            try RowStore(database: database, mapping: mapping)
                .row(RowKey(table: table, text: key), schema)
        }
        guard row == nil else { return }
        throw CloudStoreError(
            .noSuchRow,
            "The table '\(table)' has no row '\(key)'; sync first, or check the key"
        )
    }

    /// Saves a share, up to five times if someone else changes it meanwhile.
    ///
    /// - Parameter save: A closure that reads the share, changes it and saves it.
    /// - Returns: The result of the closure.
    /// - Throws: The errors of the closure.
    func repeatingConflicts<Value>(_ save: () async throws -> Value) async throws -> Value {
        var attemptsLeft = 5
        while true {
            attemptsLeft -= 1
            do {
                return try await save()
            } catch let error as CKError where error.code == .serverRecordChanged {
                guard attemptsLeft > 0 else { throw error }
            }
        }
    }

    func database(of id: CKRecord.ID) -> CKDatabase {
        database(of: id.zoneID)
    }

    func database(of zoneID: CKRecordZone.ID) -> CKDatabase {
        switch file.zone(zoneID) {
        case .own, .owned: database
        case .public: container.publicCloudDatabase
        case .shared, nil: container.sharedCloudDatabase
        }
    }

    /// Returns the record ID of a row that the server has.
    private func sharedID(
        _ key: String,
        _ table: String,
        owned: Bool = false
    ) async throws -> CKRecord.ID {
        let id = try await recordID(of: key, in: table)
        let rowKey = RowKey(table: table, text: key)
        let mapping = file.mapping
        let (known, place) = try await file.writer.write { database in
            // A file of an older version may have places of rows that are no longer shared.
            let trees = SharedTrees(database, mapping)
            if owned, let place = try Place.fetch(database, rowKey),
                try !trees.isFixed(place, of: rowKey)
            {
                try trees.settle([rowKey])
            }
            return (
                try KnownRecord.fetch(database, name: id.recordName),
                try Place.fetch(database, rowKey)
            )
        }
        guard known?.system != nil else {
            try await checkExists(key, in: table)
            throw CloudStoreError(
                .neverSent,
                "The row '\(key)' of the table '\(table)' was never sent; sync first"
            )
        }
        if known?.zone == .public {
            throw CloudStoreError(
                .notShared,
                "The table '\(table)' is in the public database, where everyone sees its rows"
            )
        }
        guard owned, let place else { return id }
        if place.zone != .own {
            throw CloudStoreError(
                .notShared,
                "The row '\(key)' of the table '\(table)' is another user's; only its owner can "
                    + "share it"
            )
        }
        if place.share == nil {
            throw CloudStoreError(
                .notShared,
                "The row '\(key)' of the table '\(table)' is shared with the row above it; change "
                    + "the share of that one"
            )
        }
        return id
    }

    /// Refuses shares in the zone of another client, which has a way of its own.
    func checkFormat() throws {
        guard file.catalog.hasFormats else { return }
        throw CloudStoreError(
            .notShared,
            "The records have the format of another client, whose shares are other than this store's; share "
                + "them there"
        )
    }

    /// Refuses rows that others could never show, because a referenced row stays with its owner.
    private func checkTop(_ table: TableSchema) throws {
        for foreignKey in table.foreignKeys where foreignKey.parent != table.name {
            let isRequired = foreignKey.columns.allSatisfy {
                table.column($0).map { $0.isNotNull || $0.isKey } ?? false
            }
            guard isRequired else { continue }
            throw CloudStoreError(
                .notShared,
                "A row of the table '\(table.name)' cannot be the root of a share: its column '"
                    + "\(foreignKey.columns.joined(separator: ", "))' may not be NULL, and the row of '"
                    + "\(foreignKey.parent)' that it refers to would not be shared; share that one"
            )
        }
    }

    private func save(_ records: [CKRecord]) async throws -> [CKRecord] {
        let (results, _) = try await database.modifyRecords(saving: records, deleting: [])
        // If one item of a request fails, all fail; the cause is the error that does not refer to
        // the others.
        let failures = results.values.compactMap { result -> CKError? in
            guard case .failure(let error) = result else { return nil }
            return error as? CKError
        }
        if let error = failures.first(where: { $0.code != .batchRequestFailed }) ?? failures.first {
            throw error
        }
        return try records.map { try results[$0.recordID]?.get() ?? $0 }
    }

    /// Stores that a row and all rows below it are shared.
    private func note(_ key: RowKey, _ saved: [CKRecord], _ share: CKShare) async throws {
        let mapping = file.mapping
        let root = saved.first { !($0 is CKShare) }.map { RemoteRecord($0, mapping) }
        let name = share.recordID.recordName
        try await file.apply { database, mapping in
            if let root {
                let applier = try ChangeApplier(database, mapping)
                try applier.apply([root])
            }
            try SharingTriggers.install(mapping.catalog, in: database)
            var place = try Place.fetch(database, key) ?? Place(zone: .own, writes: true)
            place.share = name
            try place.save(database, key)
            try SharedTrees(database, mapping).settle([key], includesBelow: true)
        }
    }
}
