import CloudKitWire

/// Decides who may put a record where: the one rule for saves, moves, copies and deletions.
///
/// Who has all of a zone, as its owner does, may put records anywhere in it; in the public database
/// roles decide, and places do not matter. Who came through shares
///
/// - changes and deletes what lies where a share lets them write, but never a share itself;
/// - takes a record away from its place, to another one or by deleting it, only where they may write
///   the record above it: the top of a share stays where its owner put it;
/// - puts a record only below one that they may write, and never below itself; what they may delete
///   they may also leave to the zone's owner, at the top of the zone;
/// - ties a record to another one, by a reference with an action, only where they may write that one
///   too: such references hold back deletions, or count against a limit of their target.
struct RecordPlacement {
    /// What stands in the way.
    enum Refusal: Hashable {
        /// The record may not be changed where it is, or not be taken from there.
        case record
        /// The record may not be put below the new parent, or to the top of the zone.
        case parent
        /// The target of a reference may not be tied to the record.
        case target(String, isSeen: Bool)
    }

    let access: ZoneAccess
    let zone: RowID<StoredZone>
    let reader: any StorageReader

    /// Why the caller may not make or change a record.
    ///
    /// - Parameters:
    ///   - name: The record's name.
    ///   - existing: The record as it is; nil for a new one.
    ///   - parent: The record above it from now on; nil for the top of the zone.
    /// - Returns: Nil when the caller may.
    /// - Throws: `StorageError`.
    func refusal(
        of name: String,
        from existing: StoredRecord?,
        below parent: String?
    ) throws -> Refusal? {
        if access == .everything { return nil }
        if let existing {
            guard try mayWrite(existing) else { return .record }
            if existing.parent == parent { return nil }
            guard try mayWrite(below: existing.parent) else { return .record }
            // There its owner alone sees it, as if it were deleted for everybody else.
            if parent == nil { return nil }
        }
        return try mayWrite(below: parent, but: name) ? nil : .parent
    }

    /// Why the caller may not delete a record.
    func refusal(ofDeleting record: StoredRecord) throws -> Refusal? {
        if access == .everything { return nil }
        let isAllowed = try mayWrite(record) && mayWrite(below: record.parent)
        return isAllowed ? nil : .record
    }

    /// Why the caller may not tie a record to others by references with an action.
    ///
    /// - Parameters:
    ///   - targets: The records' names.
    ///   - isComing: Whether a record that is not there is made by the same request.
    /// - Returns: Nil when the caller may.
    /// - Throws: `StorageError`.
    func refusal(tyingTo targets: [String], isComing: (String) -> Bool) throws -> Refusal? {
        if access == .everything { return nil }
        for target in targets {
            guard let row = try reader.record(zone, name: target) else {
                if isComing(target) || access.isOfWholeZone { continue }
                return .target(target, isSeen: false)
            }
            guard try mayWrite(row) else {
                return .target(target, isSeen: try access.reaches(row, reader))
            }
        }
        return nil
    }

    /// Whether the caller may change a record as long as it stays where it is.
    func mayWrite(_ record: StoredRecord) throws -> Bool {
        if access == .everything { return true }
        guard record.type != WireRecord.shareType else { return false }
        return try access.opensForWriting(record, reader)
    }

    /// Whether the caller may change what lies directly below a record, or at the top of the zone.
    private func mayWrite(below parent: String?, but name: String? = nil) throws -> Bool {
        if access.isOfWholeZone { return true }
        guard let parent, let row = try reader.record(zone, name: parent) else { return false }
        if let name, try access.lineage(of: row, reader).contains(name) { return false }
        return try mayWrite(row)
    }
}
