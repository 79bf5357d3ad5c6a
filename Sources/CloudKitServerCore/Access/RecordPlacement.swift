import CloudKitWire

/// Decides which records a caller may save in which place; the single rule for saves, moves, copies
/// and deletions.
///
/// A caller with access to the whole zone, such as its owner, may save records anywhere in it; in
/// the public database roles decide, and places do not matter. A participant of shares
///
/// - changes and deletes records where a share allows writing, but never a share itself;
/// - moves a record away or deletes it only with permission to write the record above it: the top
///   of a share stays where its owner put it;
/// - saves a record only below one that they may write, and never below itself; a record that they
///   may delete they may also leave to the zone's owner, at the top of the zone;
/// - ties a record to another one, by a reference with an action, only with permission to write
///   that one too, because such references prevent deletions or count toward a limit of their
///   target.
struct RecordPlacement {
    /// The reason for a refusal.
    enum Refusal: Hashable {
        /// The record may not be changed in its place, or not be removed from it.
        case record
        /// The record may not be moved below the new parent, or to the top of the zone.
        case parent
        /// The target of a reference may not be tied to the record.
        case target(String, isSeen: Bool)
    }

    let access: ZoneAccess
    let zone: RowID<StoredZone>
    let reader: any StorageReader

    /// Returns the reason why the caller may not create or change a record.
    ///
    /// - Parameters:
    ///   - name: The record's name.
    ///   - existing: The current record; nil for a new one.
    ///   - parent: The record's new parent; nil for the top of the zone.
    /// - Returns: The refusal, or nil if the caller may.
    /// - Throws: `StorageError`.
    func refusal(
        of name: String,
        from existing: StoredRecord?,
        below parent: String?
    ) throws -> Refusal? {
        if access == .everything { return nil }
        if let existing {
            guard try canWrite(existing) else { return .record }
            if existing.parent == parent { return nil }
            guard try canWrite(below: existing.parent) else { return .record }
            // There only its owner sees it, as if it were deleted for all others.
            if parent == nil { return nil }
        }
        return try canWrite(below: parent, but: name) ? nil : .parent
    }

    /// Returns the reason why the caller may not delete a record.
    func refusal(ofDeleting record: StoredRecord) throws -> Refusal? {
        if access == .everything { return nil }
        let isAllowed = try canWrite(record) && canWrite(below: record.parent)
        return isAllowed ? nil : .record
    }

    /// Returns the reason why the caller may not tie a record to others by references with an action.
    ///
    /// - Parameters:
    ///   - targets: The records' names.
    ///   - isComing: A closure that returns whether the same request creates a nonexistent record.
    /// - Returns: The refusal, or nil if the caller may.
    /// - Throws: `StorageError`.
    func refusal(tyingTo targets: [String], isComing: (String) -> Bool) throws -> Refusal? {
        if access == .everything { return nil }
        for target in targets {
            guard let row = try reader.record(zone, name: target) else {
                if isComing(target) || access.isOfWholeZone { continue }
                return .target(target, isSeen: false)
            }
            guard try canWrite(row) else {
                return .target(target, isSeen: try access.reaches(row, reader))
            }
        }
        return nil
    }

    /// Returns whether the caller may change a record that stays in its place.
    func canWrite(_ record: StoredRecord) throws -> Bool {
        if access == .everything { return true }
        guard record.type != WireRecord.shareType else { return false }
        return try access.opensForWriting(record, reader)
    }

    /// Returns whether the caller may change records directly below a record, or at the top of the zone.
    private func canWrite(below parent: String?, but name: String? = nil) throws -> Bool {
        if access.isOfWholeZone { return true }
        guard let parent, let row = try reader.record(zone, name: parent) else { return false }
        if let name, try access.lineage(of: row, reader).contains(name) { return false }
        return try canWrite(row)
    }
}
