import GRDB

/// The settlement of the outbox with what the server has: changes that it accepted leave the outbox, also when
/// the response to their save was lost, and changes that a merge has to send come into it.
struct OutboxSettlement: ApplyPhase {
    let context: ApplyContext

    /// Derives from a record whether a save with a lost response had reached the server.
    ///
    /// The record's stamp holds the latest version of each device that it includes. If ours is
    /// among them, the save is acknowledged now; otherwise the server has another version, and ours
    /// will never be accepted. Where another client determines the format, there is no stamp: a record that the
    /// server never had before is ours, whatever others have changed since; of another record each field is
    /// acknowledged that has our value, and the others are as if they had not been sent.
    ///
    /// Returns whether anything is acknowledged.
    func resolveSent(
        _ known: inout KnownRecord,
        _ entry: inout OutboxEntry?,
        in fields: [String: StoreValue],
        _ table: TableSchema,
        isFirst: Bool,
        stamp: () -> RecordStamp
    ) throws -> Bool {
        guard let version = known.sent?.version, let sent = try known.sentFields() else {
            return false
        }
        let accepted: [String: StoreValue] =
            if let format = table.format {
                isFirst ? sent : format.values(of: sent, in: fields)
            } else if stamp().version(of: clock.device) ?? 0 >= version {
                sent
            } else {
                [:]
            }
        if !accepted.isEmpty {
            let isWhole = accepted.count == sent.count
            try acknowledge(accepted, &known, &entry, isWhole: isWhole)
        }
        known.sent = nil
        return !accepted.isEmpty
    }

    /// Updates the base to the sent fields, and clears exactly these from the outbox.
    ///
    /// - Parameters:
    ///   - sent: The fields.
    ///   - known: The record.
    ///   - entry: The row's unsent changes.
    ///   - isWhole: Whether these are all fields of the save.
    /// - Throws: An error of the database.
    func acknowledge(
        _ sent: [String: StoreValue],
        _ known: inout KnownRecord,
        _ entry: inout OutboxEntry?,
        isWhole: Bool = true
    ) throws {
        let table = catalog[known.key?.table ?? ""]
        let (base, words) = try known.acceptedBase(sent, table, database)
        known.base = KnownFields(stored: base, words)
        if var pending = entry, !pending.isDeleted, let version = known.sent?.entry {
            // Times and versions are of one clock: a field that was changed since is later.
            for (field, time) in pending.changed where time <= version && sent[field] != nil {
                pending.changed[field] = nil
            }
            // Only for the state that was sent: a field that was changed since may equal the base
            // and be an edit.
            if isWhole, pending.version == version { try dropEqual(&pending, known) }
            if pending.version == version, pending.changed.isEmpty {
                try pending.clear(database)
                entry = nil
            } else {
                try pending.save(database)
                entry = pending
            }
        }
        known.sent = nil
    }

    /// Removes the fields of an entry that equal the server's: they were not sent because they did
    /// not differ, not because they wait for another row.
    private func dropEqual(_ entry: inout OutboxEntry, _ known: KnownRecord) throws {
        guard !entry.changed.isEmpty, let table = catalog[entry.key.table],
            let row = try rows.row(entry.key, table)
        else { return }
        let fields = try mapping.fields(row, table)
        let base = try known.baseFields(like: fields)
        entry = try hidden.leftOut(of: entry, fields, known, table)
        entry.changed = entry.changed.filter {
            fields[$0.key] ?? .null != base[$0.key] ?? .null
        }
    }

    /// Updates the outbox to the changes that a plan sends.
    func settle(
        _ entry: OutboxEntry?,
        _ plan: MergePlan,
        _ key: RowKey
    ) throws {
        switch plan.sending {
        case .nothing: try entry?.clear(database)
        case .deletion:
            // The entry for it stays.
            break
        case .save(let fields):
            let now = try StoreClock.tick(database)
            var changed: [String: Int64] = [:]
            for field in fields {
                let restored = plan.restored[field].map(clock.time(of:))
                // An edit keeps its time through a merge; a value that the merge itself made is of
                // now.
                changed[field] = entry?.changed[field] ?? restored ?? now
            }
            var saved = OutboxEntry(key: key, isDeleted: false, changed: changed, version: now)
            saved.since = entry?.since ?? now
            try saved.save(database)
        }
    }
}
