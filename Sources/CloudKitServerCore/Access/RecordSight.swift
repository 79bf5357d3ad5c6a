import CloudKitWire

/// Decides which of a zone's records a caller may see.
///
/// It is the single rule for all ways to read a record: look-ups, queries, change feeds, responses
/// to saves, receipts for its files, links, notifications, archives and copies.
struct RecordSight: Sendable {
    /// A caller's knowledge of a record.
    enum Verdict: Hashable, Sendable {
        /// The caller may read it.
        case shown
        /// No role of the caller may read it, but the caller may know that it exists.
        case forbidden
        /// The record is outside the parts shared with the caller, for whom it does not exist.
        case hidden
    }

    let access: ZoneAccess
    let permissions: RecordPermissions
    /// The schema whose grants apply; nil if roles do not matter.
    let schema: Schema?
    /// The caller, if the zone belongs to another user.
    let viewer: RowID<StoredUser>?

    /// Returns the caller's knowledge of a record, or of its tombstone.
    func verdict(on record: StoredRecord, _ reader: any StorageReader) throws -> Verdict {
        if let viewer, let viewers = record.lastViewers {
            return viewers.contains(viewer) ? .shown : .hidden
        }
        guard try access.reaches(record, reader) else { return .hidden }
        guard let schema, permissions.scope == .public else { return .shown }
        let type = schema.types[record.type] ?? RecordTypeSchema(number: 0)
        return permissions.mayRead(type, creator: record.created.user) ? .shown : .forbidden
    }

    /// Returns whether the caller may read a record, or its tombstone.
    func shows(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        try verdict(on: record, reader) == .shown
    }
}

extension ZoneView {
    /// Returns the part of the zone that the caller of a request sees.
    func sight(
        _ call: Call,
        _ schemas: SchemaCache,
        _ reader: any StorageReader
    ) throws -> RecordSight {
        // Roles matter only in the public database.
        let isPublic = database.owner == nil
        return sight(call, schema: isPublic ? try schemas.current(call.environment, reader) : nil)
    }

    /// Returns the part of the zone that the caller of a request sees, using an available schema.
    func sight(_ call: Call, schema: Schema?) -> RecordSight {
        RecordSight(
            access: access,
            permissions: RecordPermissions(
                scope: database.owner == nil ? .public : call.path.database,
                caller: call.caller
            ),
            schema: schema,
            viewer: viewer
        )
    }
}
