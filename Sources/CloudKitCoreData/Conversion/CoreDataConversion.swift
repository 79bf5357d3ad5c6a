/// How a store becomes a database.
public struct CoreDataConversionOptions: Hashable, Sendable {
    /// Whether rows and links without a record get new names, although the store has been mirrored.
    ///
    /// Where CloudKit has records of them nonetheless, they are there twice afterwards. A store that
    /// was never mirrored has no records; its rows get names without being asked.
    public var mintsMissingRecords = false
    /// Whether a value that cannot be read becomes NULL, and is counted, instead of ending the
    /// conversion.
    public var skipsUnreadableValues = false
    /// Whether the new file takes the place of one that is there, once it is whole.
    public var replacesFile = false

    /// Makes options with the defaults.
    public init() {}
}

/// What came of a store's conversion.
///
/// A database of a store that was mirrored has two tables besides: `coreDataZone` and
/// `coreDataRecord`, with the zone and state of each record:
///
/// | state | the record |
/// |---|---|
/// | `synced` | is as the row |
/// | `changed` | is older than the row |
/// | `new` | does not exist; the row got its name here |
/// | `deleted` | is to be deleted: its row was |
/// | `gone` | was deleted in CloudKit; its row is to be deleted |
/// | `duplicate` | is of a link that another record is of; it goes when the link goes |
public struct CoreDataConversionReport: Hashable, Sendable {
    /// How many rows each table has.
    public internal(set) var rows: [String: Int] = [:]
    /// How many rows and links got new names, by entity, or by entity and relationship.
    public internal(set) var mintedRecords: [String: Int] = [:]
    /// How many links lead to no row of the store, and are NULL or left out, by entity and
    /// relationship.
    public internal(set) var danglingLinks: [String: Int] = [:]
    /// How many required values were missing and are the model's default, by entity and attribute.
    public internal(set) var filledValues: [String: Int] = [:]
    /// How many values could not be read and are NULL, by entity and attribute.
    public internal(set) var skippedValues: [String: Int] = [:]
    /// What does not come over, or not as it was, in words.
    public internal(set) var notes: [String] = []
}
