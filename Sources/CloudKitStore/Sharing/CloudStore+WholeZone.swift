public import CloudKit
import GRDB

extension CloudStore {
    /// How often the share is saved again that somebody else changed meanwhile.
    private static let attempts = 5

    /// Shares all rows of the user's own, now and later, or changes how they are shared: as a family
    /// wants it, whose members have one list of everything.
    ///
    /// ```swift
    /// let share = try await store.shareEverything { share in
    ///     share[CKShare.SystemFieldKey.title] = "The family's lists"
    ///     share.publicPermission = .readWrite
    /// }
    /// print(share.url as Any)
    /// ```
    ///
    /// Others take part with ``accept(_:)``. What they insert below no other row goes into the shared
    /// zone too, as long as they may write there; rows that they had before stay their own.
    ///
    /// - Parameter configure: Sets title, public permission and participants; runs again when somebody
    ///   else changed the share meanwhile.
    /// - Returns: The share, with its link.
    /// - Throws: A ``CloudStoreError`` when rows are shared by themselves, a `CKError`, or an error of the
    ///   database.
    @discardableResult
    public func shareEverything(
        configure: @Sendable (CKShare) -> Void = { _ in }
    ) async throws -> CKShare {
        try await checkNoTops()
        try await sync()
        for attempt in 1... {
            let share = try await shareOfEverything() ?? CKShare(recordZoneID: file.zoneID)
            configure(share)
            do {
                let (results, _) = try await database.modifyRecords(saving: [share], deleting: [])
                guard let saved = results[share.recordID] else { throw CKError(.internalError) }
                return try saved.get() as? CKShare ?? share
            } catch let error as CKError where error.code == .serverRecordChanged {
                guard attempt < Self.attempts else { throw error }
            }
        }
        throw CKError(.internalError)
    }

    /// The share of all rows of the user's own, as the server has it; nil when there is none.
    ///
    /// - Throws: A `CKError`.
    public func shareOfEverything() async throws -> CKShare? {
        do {
            return try await database.record(for: wholeShareID(file.zoneID)) as? CKShare
        } catch let error as CKError where [.unknownItem, .zoneNotFound].contains(error.code) {
            return nil
        }
    }

    /// Ends the sharing of everything: the rows stay here, and go from the participants.
    ///
    /// - Throws: A ``CloudStoreError`` when not everything is shared; a `CKError`.
    public func unshareEverything() async throws {
        guard try await shareOfEverything() != nil else {
            throw CloudStoreError(.notShared, "The zone of this store is not shared as a whole")
        }
        try await database.deleteRecord(withID: wholeShareID(file.zoneID))
        try await sync()
    }

    /// Leaves what another user shares with ``shareEverything(configure:)``: the rows go from here and
    /// stay there.
    ///
    /// Edits that were not sent are in the journal.
    ///
    /// - Parameter owner: The name of the owner's user record.
    /// - Throws: A ``CloudStoreError`` when this user shares nothing whole; a `CKError`, or an error of the
    ///   database.
    public func leaveEverything(of owner: String) async throws {
        let zone = "\(owner)/\(file.zoneID.zoneName)"
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
                "The user '\(owner)' shares no whole zone with this one"
            )
        }
        do {
            try await container.sharedCloudDatabase
                .deleteRecord(withID: wholeShareID(file.id(zone)))
        } catch let error as CKError where [.zoneNotFound, .unknownItem].contains(error.code) {
            // The owner was first; what is fetched says the rest.
        }
        try await sync()
    }

    private func wholeShareID(_ zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
    }

    /// Refuses a second share over rows that have one.
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
            "The row '\(top.text)' of the table '\(top.table)' is shared by itself, so that not everything "
                + "can be shared too; end that with unshare(_:in:) first"
        )
    }
}
