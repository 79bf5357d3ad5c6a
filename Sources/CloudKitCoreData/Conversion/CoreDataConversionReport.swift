/// The options of a store's conversion to a database.
public struct CoreDataConversionOptions: Hashable, Sendable {
    /// A Boolean value that indicates whether rows and links without a record get new names even
    /// though the store has been mirrored.
    ///
    /// If CloudKit has records of them nevertheless, they exist twice afterwards. A store that was
    /// never mirrored has no records; its rows always get names.
    public var createsMissingRecords = false
    /// A Boolean value that indicates whether an unreadable value becomes NULL, and is counted,
    /// instead of ending the conversion.
    public var skipsUnreadableValues = false
    /// A Boolean value that indicates whether records without a row or link, of which the store does not say why, are
    /// deleted with the first sync.
    ///
    /// Otherwise the first sync brings them back as rows. The app may have deleted their objects without a note of it,
    /// or may not have them yet.
    public var deletesRecordsWithoutRow = false
    /// A Boolean value that indicates whether the new file replaces an existing one and its logs, once it is complete.
    public var replacesFile = false

    /// Creates options with the defaults.
    public init() {}
}

/// The results of a store's conversion.
///
/// The database of a mirrored store has two more tables, `coreDataZone` and `coreDataRecord`, with
/// the zone and state of each record:
///
/// | state | the record |
/// |---|---|
/// | `synced` | matches the row |
/// | `changed` | is older than the row |
/// | `new` | does not exist; the row got its name here |
/// | `deleted` | is to be deleted: its row was, or the options say so of records without a row |
/// | `gone` | was deleted in CloudKit; its row is to be deleted |
/// | `duplicate` | is a second record of a link; it is deleted with the link |
///
/// A CloudKit store of the database sends what is `changed` and `deleted`, and looks whether what is `gone` exists. Then
/// the rows are `synced`, and the other lines are no longer there.
public struct CoreDataConversionReport: Hashable, Sendable {
    /// The number of rows, by table.
    public internal(set) var rows: [String: Int] = [:]
    /// The number of rows and links that got new names, by entity, or by entity and relationship.
    public internal(set) var createdRecords: [String: Int] = [:]
    /// The number of links to missing rows, which are NULL or omitted, by entity and relationship.
    public internal(set) var danglingLinks: [String: Int] = [:]
    /// The number of missing required values that got the model's default, by entity and attribute.
    public internal(set) var filledValues: [String: Int] = [:]
    /// The number of unreadable values that became NULL, by entity and attribute.
    public internal(set) var skippedValues: [String: Int] = [:]
    /// The number of records without a row or link, of which the store does not say why, by entity, or by entity and
    /// relationship.
    ///
    /// The first sync brings them back as rows, or deletes them if the options say so.
    public internal(set) var recordsWithoutRow: [String: Int] = [:]
    /// Descriptions of content that was not converted, or was changed.
    public internal(set) var notes: [String] = []
}
