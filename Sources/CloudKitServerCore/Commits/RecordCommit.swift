import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Applies one batch inside its commit.
///
/// Each operation is checked completely before it writes anything, so a failed one changes nothing
/// and the next one can proceed. `checkTag` decides whether a save conflicts with the server's copy.
struct RecordCommit {
    let call: Call
    let writer: any StorageWriter
    let zone: ZoneView
    let batch: RecordBatch
    var rules: SchemaRules
    let links: AssetLinks
    /// The number of the zone's newest change so far.
    var sequence: Int64
    let permissions: RecordPermissions
    /// The part of the zone that the caller sees.
    let sight: RecordSight
    /// The places in which the caller may save records.
    let placement: RecordPlacement
    /// The indexes of types in the schema before the batch.
    var steadyKeys: [String: IndexKeys] = [:]
    /// The shares saved so far, by the names of their roots.
    var newShares: [String: String] = [:]
    /// The tops of the shared hierarchies at the time of the first use; nil once a share is deleted.
    var sharedTops: Set<String>?
    /// `true` when records of the zone were shared at the time of the first use.
    var hadShares: Bool?
    /// The changes of the batch to what participants see.
    var sightChanges: SightChanges
    private var gone: [RowID<StoredUser>] = []
    /// The failures of operations so far, by the names of their records.
    private(set) var failures: [String: RecordFailure] = [:]
    /// The changes so far, in order.
    private(set) var changes: [RecordChange] = []
    /// `true` for types whose subscriptions need the fields of deleted records, as far as known.
    var lookedAtTypes: [String: Bool] = [:]
    /// The bytes of the zone's records so far.
    var bytes: Int64
    /// The number of bytes that the zone may grow to; nil for no limit.
    private var byteLimit: Int64?
    /// The uploads whose bytes the saved record takes over, and the number of those bytes that the
    /// quota already counts.
    var redeemed: [Int64] = []
    var released: Int64 = 0

    init(
        call: Call,
        writer: any StorageWriter,
        zone: ZoneView,
        batch: RecordBatch,
        rules: SchemaRules,
        links: AssetLinks
    ) throws {
        self.call = call
        self.writer = writer
        self.zone = zone
        self.batch = batch
        self.rules = rules
        self.links = links
        sightChanges = SightChanges(
            zone: zone.zone.id,
            directory: ShareDirectory(environment: call.environment.id),
            largestTree: rules.configuration.listedRecords
        )
        sequence = zone.zone.headSequence
        bytes = zone.zone.bytes
        byteLimit = try StorageQuota(rules.configuration, of: zone.database)
            .limit(of: zone.zone, writer)
        let sight = zone.sight(call, schema: rules.schema)
        self.sight = sight
        permissions = sight.permissions
        placement = RecordPlacement(access: zone.access, zone: zone.zone.id, reader: writer)
    }

    /// Applies the operations, each after those that it depends on; returns outcomes in the order
    /// of the request.
    ///
    /// - Throws: `AtomicBatchFailed`, or an error of the storage.
    mutating func run() throws -> [RecordOutcome] {
        var found = [RecordOutcome?](repeating: nil, count: batch.items.count)
        var waiting: [Int] = []
        for place in batch.order {
            let item = batch.items[place]
            do {
                found[place] = try attempt(item.name) { commit in try commit.apply(item) }
            } catch is DeletionWaits {
                waiting.append(place)
            }
        }
        if !waiting.isEmpty { try settle(waiting, &found) }
        var outcomes = found.compactMap { $0 }
        try markRoots(&outcomes)
        for index in outcomes.indices {
            if case .saved(let record) = outcomes[index], try !sight.shows(record, writer) {
                outcomes[index] = .savedUnseen(record)
            }
        }
        // Thrown, so that the storage undoes what the batch has written.
        if batch.isAtomic, outcomes.contains(where: \.isFailure) {
            throw AtomicBatchFailed(outcomes, names: batch.items.map(\.name))
        }
        // At the end, when all shares and parents of the batch are known.
        let news = try sightChanges.result(writer)
        try sightChanges.write(news, at: zone.database.headSequence + 1, &sequence, writer)
        gone = news.gone
        return outcomes
    }

    /// Notifies everyone who sees the changes, and then removes users who are no longer participants of
    /// any share in the zone.
    ///
    /// - Returns: The news to announce after the transaction.
    func notify(_ randomness: any ServiceRandomness) throws -> PushNews {
        var push = PushCommit(
            call: call,
            writer: writer,
            zone: zone,
            schema: rules.schema,
            randomness: randomness
        )
        try push.notify(of: changes)
        let shares = ShareDirectory(environment: call.environment.id)
        try shares.removeMembers(gone, of: zone.zone.id, writer)
        return push.news
    }

    /// Returns the outcome of an operation; a failed one leaves the schema unchanged.
    mutating func attempt(
        _ name: String,
        _ body: (inout Self) throws -> RecordOutcome
    ) throws -> RecordOutcome {
        let schema = rules
        do {
            return try body(&self)
        } catch let failure as RecordFailure {
            rules = schema
            failures[name] = failure
            return .failed(name: name, failure)
        }
    }

    /// Writes the joint results of the operations: the sequence numbers of the zone and the
    /// database, and the schema.
    func finish(_ cache: SchemaCache, _ randomness: any ServiceRandomness) throws {
        if rules.isChanged {
            let version = randomness.identifier()
            try rules.save(version: version, writer)
            cache.insert(rules.schema, version: version)
        }
        // A batch without any effect is no change of the zone.
        guard sequence > zone.zone.headSequence else { return }
        var row = zone.zone
        row.headSequence = sequence
        row.bytes = max(bytes, 0)
        // Default zones have no change feed.
        if !zone.isDefault {
            row.changeSequence = zone.database.headSequence + 1
            try writer.setHeadSequence(zone.database.id, row.changeSequence)
        }
        try writer.updateZone(row)
    }

    private mutating func apply(_ item: RecordBatch.Item) throws -> RecordOutcome {
        if let failure = call.failure(ofItem: item.position) { throw failure }
        if let problem = NameRules.recordName(item.name) {
            throw RecordFailure(.badRequest, problem)
        }
        let row = try writer.record(zone.zone.id, name: item.name)
        let live = row.flatMap { $0.isDeleted ? nil : $0 }
        // A record that the caller does not see does not exist for them.
        let existing = try live.flatMap { try isHidden($0) ? nil : $0 }
        let kind = item.operation.operationType
        try checkTag(kind, item, existing)
        guard !kind.isDelete else { return try delete(item, existing, row) }
        try checkPlace(of: item, existing)
        if kind == .create, existing != nil {
            // Whoever may not create such a record does not learn that the name is in use.
            let type = rules.schema.types[item.operation.record.recordType ?? ""]
            try permissions.checkCreate(type ?? RecordTypeSchema(number: 0), item.name)
            throw RecordFailure(
                .conflict,
                "record to insert already exists: '\(item.name)'"
            )
        }
        // The refusal reveals nothing about a record of that name in another place.
        guard (existing == nil) == (live == nil) else { throw createRefusal(item.name) }
        return .saved(try save(item, over: existing, tombstone: row))
    }

    /// Deletes the record of an operation, or leaves a share.
    private mutating func delete(
        _ item: RecordBatch.Item,
        _ existing: StoredRecord?,
        _ row: StoredRecord?
    ) throws -> RecordOutcome {
        guard let existing else {
            try checkIsGone(row, item.name)
            return .deleted(name: item.name, type: row?.type)
        }
        if try !leave(existing) { try delete(existing) }
        return .deleted(name: item.name, type: existing.type)
    }

    /// Checks a change tag, once it is known that the caller may change the record.
    private func checkTag(
        _ kind: RecordOperation.OperationType,
        _ item: RecordBatch.Item,
        _ existing: StoredRecord?
    ) throws {
        let record = item.operation.record
        guard kind.checksTag else { return }
        if record.recordName == nil {
            throw RecordFailure(.badRequest, "recordName is missing; \(kind.rawValue) needs it")
        }
        guard let tag = record.recordChangeTag else {
            throw RecordFailure(
                .badRequest,
                "recordChangeTag is missing for '\(item.name)'; \(kind.rawValue) needs the tag of "
                    + "the server's copy"
            )
        }
        guard let existing else {
            throw RecordFailure(
                .notFound,
                "recordChangeTag specified, but record not found. Record: '\(item.name)'"
            )
        }
        // A participant leaves a share by deleting it, for which no write permission is needed.
        if !kind.isDelete || call.path.database != .shared || existing.type != WireRecord.shareType
        {
            try checkMayWrite(existing)
        }
        let current = ChangeTag.text(existing.sequence)
        guard tag == current else {
            throw RecordFailure(
                .conflict,
                "client oplock error updating record '\(item.name)': recordChangeTag is '\(tag)', "
                    + "the server's copy has '\(current)'"
            )
        }
    }

    /// Refuses growth that would exceed the database's quota; a reduction is always allowed.
    func checkQuota(_ growth: Int64, _ name: String) throws {
        guard let byteLimit, growth > 0 else { return }
        let room = byteLimit + released - bytes
        guard growth > room else { return }
        throw RecordFailure(
            .quotaExceeded,
            "Record '\(name)' needs \(growth) bytes more, its database has room for "
                + "\(max(room, 0)); delete something or raise the quota"
        )
    }

    /// Transfers the bytes of uploads to the record that was stored with them.
    mutating func releaseUploads() throws {
        let directory = UploadDirectory(database: zone.database.id)
        for upload in redeemed { try directory.release(upload, writer) }
        // The quota counted these bytes as a waiting upload; now it counts them as the record's.
        byteLimit? += released
        redeemed = []
        released = 0
    }

    /// Records a change for the record's subscribers.
    mutating func note(
        _ kind: RecordChange.Kind,
        _ record: StoredRecord,
        before: StoredRecord? = nil
    ) {
        let known = before.flatMap { $0.isDamaged ? nil : $0 }
        guard !record.isDamaged else { return }
        changes.append(RecordChange(kind: kind, record: record, before: known))
    }

    /// Returns the next sequence number of the zone.
    mutating func takeSequence() -> Int64 {
        sequence += 1
        return sequence
    }

    /// The stamp of the caller's changes.
    var stamp: StoredRecord.Stamp { call.stamp }
}

extension Call {
    /// The stamp of the caller's changes.
    var stamp: StoredRecord.Stamp {
        StoredRecord.Stamp(
            milliseconds: now,
            user: caller.user?.recordName ?? ZoneDirectory.publicOwner
        )
    }
}
