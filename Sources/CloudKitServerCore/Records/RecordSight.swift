import CloudKitWire

/// Decides what a caller may see of a zone's records: the one rule for every way in which a record is
/// shown, be it a look-up, a query, a feed of changes, the answer to a save, a receipt for its files,
/// a link, a notification, an archive or a copy.
struct RecordSight: Sendable {
    /// What a caller may know of a record.
    enum Verdict: Hashable, Sendable {
        /// It is shown.
        case shown
        /// No role of the caller may read it; that there is one of its name may be told.
        case forbidden
        /// It lies outside what is shared with the caller, for whom it does not exist.
        case hidden
    }

    let access: ZoneAccess
    let permissions: RecordPermissions
    /// The schema whose grants count; nil where roles do not matter.
    let schema: Schema?
    /// The caller, where it is another user's zone.
    let viewer: RowID<StoredUser>?

    /// What the caller may know of a record, or of its tombstone.
    func verdict(on record: StoredRecord, _ reader: any StorageReader) throws -> Verdict {
        if let viewer, let viewers = record.lastViewers {
            return viewers.contains(viewer) ? .shown : .hidden
        }
        guard try access.reaches(record, reader) else { return .hidden }
        guard let schema, permissions.scope == .public else { return .shown }
        let type = schema.types[record.type] ?? RecordTypeSchema(number: 0)
        return permissions.mayRead(type, creator: record.created.user) ? .shown : .forbidden
    }

    /// Whether a record, or its tombstone, is shown to the caller.
    func shows(_ record: StoredRecord, _ reader: any StorageReader) throws -> Bool {
        try verdict(on: record, reader) == .shown
    }
}

extension ZoneView {
    /// What the caller of a request sees of the zone.
    func sight(
        _ call: Call,
        _ schemas: SchemaCache,
        _ reader: any StorageReader
    ) throws -> RecordSight {
        // Roles matter in the public database only.
        let isPublic = database.owner == nil
        return sight(call, schema: isPublic ? try schemas.current(call.environment, reader) : nil)
    }

    /// What the caller of a request sees of the zone, by a schema that is at hand.
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
