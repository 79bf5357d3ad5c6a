import CloudKitWire

// The rules of sight and of placement, applied to the operations of a batch.
extension RecordCommit {
    /// Returns whether a record does not exist for the caller.
    func isHidden(_ record: StoredRecord) throws -> Bool {
        try sight.verdict(on: record, writer) == .hidden
    }

    /// Returns whether there is a record with a name that the caller sees.
    func isSeen(_ name: String) throws -> Bool {
        guard let record = try writer.record(zone.zone.id, name: name), !record.isDeleted else {
            return false
        }
        return try sight.shows(record, writer)
    }

    /// Refuses a change of a record that the caller may not change in its place.
    func checkMayWrite(_ record: StoredRecord) throws {
        guard try placement.canWrite(record) else { throw writeRefusal(record.name) }
        let type = rules.schema.types[record.type] ?? RecordTypeSchema(number: 0)
        try permissions.checkWrite(type, record)
    }

    /// Refuses a save that would put a record in a place where the caller may not save it.
    func checkPlace(of item: RecordBatch.Item, _ existing: StoredRecord?) throws {
        let parent = item.parent(over: existing)
        switch try placement.refusal(of: item.name, from: existing, below: parent) {
        case nil: return
        case .record, .target: throw writeRefusal(item.name)
        case .parent:
            // The parent is missing because the batch failed to create it: that failure is the
            // cause, unless it would reveal a record that the caller does not see.
            if let parent, let cause = failures[parent], cause.code != .accessDenied,
                try !isSeen(parent), let failure = failure(below: parent, item.name)
            {
                throw failure
            }
            guard existing == nil else {
                throw RecordFailure(
                    .accessDenied,
                    "WRITE operation not permitted on '\(item.name)': its new parent is not in a "
                        + "hierarchy that is shared with the right to write"
                )
            }
            throw createRefusal(item.name)
        }
    }

    /// Refuses references with an action to records that the caller may not tie to another one.
    func checkTies(_ references: [References.Item], of name: String) throws {
        // The parent is a matter of the record's place, and a record may refer to itself.
        let targets = references.filter { $0.kind != .parent && $0.target != name }.map(\.target)
        let refusal = try placement.refusal(tyingTo: targets) { batch.saves($0) }
        guard case .target(let target, let isSeen)? = refusal else { return }
        // Refused in the same words as a target that does not exist.
        guard isSeen else {
            throw RecordFailure(
                .validatingReferenceError,
                "The target '\(target)' of a reference of record '\(name)' does not exist"
            )
        }
        throw RecordFailure(
            .accessDenied,
            "WRITE operation not permitted on '\(target)', to which a reference of record '\(name)' "
                + "with an action would tie it"
        )
    }

    /// Refuses to report a record as deleted if the caller must not know whether it exists.
    func checkIsGone(_ row: StoredRecord?, _ name: String) throws {
        if zone.access.isOfWholeZone { return }
        // Whoever could have deleted the record may know that it is deleted.
        if let row, row.isDeleted, try placement.canWrite(row) { return }
        throw writeRefusal(name)
    }

    func createRefusal(_ name: String) -> RecordFailure {
        RecordFailure(
            .accessDenied,
            "CREATE operation not permitted on '\(name)': its parent is not in a hierarchy that is "
                + "shared with write permission, or the name is in use"
        )
    }

    func writeRefusal(_ name: String) -> RecordFailure {
        RecordFailure(.accessDenied, "WRITE operation not permitted on '\(name)'")
    }
}
