public import CloudKit
import GRDB

extension CloudStore {
    /// Shares all of the user's own rows, present and future, or changes an existing share: for
    /// example for a family with one list of everything.
    ///
    /// ```swift
    /// let share = try await store.shareEverything { share in
    ///     share[CKShare.SystemFieldKey.title] = "The family's lists"
    ///     share.publicPermission = .readWrite
    /// }
    /// print(share.url as Any)
    /// ```
    ///
    /// Others join with ``accept(_:)``. Rows that they insert below no other row go into the shared
    /// zone too, if they may write there; rows that they already had stay their own.
    ///
    /// - Parameter configure: A closure that sets title, public permission and participants; called
    ///   again when someone else changed the share meanwhile.
    /// - Returns: The share, with its link.
    /// - Throws: A ``CloudStoreError`` when single rows are already shared, a `CKError`, or an error
    ///   of the database.
    @discardableResult
    public func shareEverything(
        configure: @Sendable (CKShare) -> Void = { _ in }
    ) async throws -> CKShare {
        try checkFormat()
        try await checkNoTops()
        try await sync()
        return try await repeatingConflicts {
            let share = try await shareOfEverything() ?? CKShare(recordZoneID: file.zoneID)
            configure(share)
            let (results, _) = try await database.modifyRecords(saving: [share], deleting: [])
            guard let saved = results[share.recordID] else { throw CKError(.internalError) }
            return try saved.get() as? CKShare ?? share
        }
    }

    /// Returns the share of all of the user's own rows, as the server has it; nil when there is none.
    ///
    /// - Throws: A `CKError`.
    public func shareOfEverything() async throws -> CKShare? {
        do {
            return try await database.record(for: wholeShareID(file.zoneID)) as? CKShare
        } catch let error as CKError where [.unknownItem, .zoneNotFound].contains(error.code) {
            return nil
        }
    }

    /// Stops sharing everything: the rows stay here and are removed from the participants' devices.
    ///
    /// - Throws: A ``CloudStoreError`` when not everything is shared; a `CKError`.
    public func unshareEverything() async throws {
        guard try await shareOfEverything() != nil else {
            throw CloudStoreError(.notShared, "The zone of this store is not shared as a whole")
        }
        try await database.deleteRecord(withID: wholeShareID(file.zoneID))
        try await sync()
    }

    /// Leaves a zone that another user shares with ``shareEverything(configure:)``: the rows are
    /// removed from here and stay with the owner.
    ///
    /// Unsent edits are in the journal.
    ///
    /// - Parameter owner: The name of the owner's user record.
    /// - Throws: A ``CloudStoreError`` when the owner shares no whole zone with this user; a
    ///   `CKError`, or an error of the database.
    public func leaveEverything(of owner: String) async throws {
        let zone = StoreZone.shared(owner: owner, name: file.zoneID.zoneName)
        let isThere = try await file.writer.read { database in
            try Bool.fetchOne(
                database,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_share WHERE zone = ? AND name = ?)
                    """,
                arguments: [zone, CKRecordNameZoneWideShare]
            )
        }
        guard isThere == true else {
            throw CloudStoreError(
                .notShared,
                "The user '\(owner)' shares no whole zone with this user"
            )
        }
        do {
            try await container.sharedCloudDatabase
                .deleteRecord(withID: wholeShareID(file.id(zone)))
        } catch let error as CKError where [.zoneNotFound, .unknownItem].contains(error.code) {
            // The owner ended the share first; the fetched changes handle the rest.
        }
        try await sync()
    }

    private func wholeShareID(_ zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
    }

    /// Refuses a second share over rows that already have one.
    private func checkNoTops() async throws {
        let top = try await file.writer.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT tbl, key FROM grdb_cloudkit_place WHERE zone = '' AND share IS NOT NULL
                    ORDER BY tbl, key
                    """
            ).map { RowKey(table: $0["tbl"], text: $0["key"]) }
        }
        guard let top else { return }
        throw CloudStoreError(
            .notShared,
            "The row '\(top.text)' of the table '\(top.table)' is already shared on its own, so everything "
                + "cannot be shared too; end that with unshare(_:in:) first"
        )
    }
}
