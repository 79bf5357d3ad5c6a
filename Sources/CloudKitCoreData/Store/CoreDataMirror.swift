/// What a store knows of its records in CloudKit.
///
/// A store has this once `NSPersistentCloudKitContainer` or SwiftData has mirrored it.
public struct CoreDataMirror: Hashable, Sendable {
    /// A zone that the store mirrors.
    public struct Zone: Hashable, Sendable {
        /// The database of a zone.
        public enum Scope: String, Hashable, Sendable {
            /// The public database.
            case `public`
            /// The user's own.
            case `private`
            /// What others share with the user.
            case shared
        }

        /// The zone's name.
        public let name: String
        /// The zone's owner; `__defaultOwner__` is the user.
        public let owner: String
        /// The database; nil where the store does not say.
        public let scope: Scope?
    }

    /// The record of an object.
    public struct Record: Hashable, Sendable {
        /// The record's name.
        public let name: String
        /// The record's zone; nil where the store does not say.
        public let zone: Zone?
    }

    /// The zones.
    public internal(set) var zones: [Zone] = []
    /// How many rows have a record.
    public internal(set) var rowsWithRecord = 0
    /// How many rows, and links of many-to-many relationships, have none, by entity, or by entity
    /// and relationship.
    public internal(set) var missingRecords: [String: Int] = [:]
    /// How many rows are newer than their records.
    public internal(set) var rowsToSend = 0
    /// How many records are of rows that were deleted, which CloudKit does not know yet.
    public internal(set) var recordsToDelete = 0
    /// How many rows are of records that were deleted in CloudKit, and are to be deleted too.
    public internal(set) var rowsToDelete = 0
    /// How many records the store knows whose rows are gone, without a sign that they were deleted.
    public internal(set) var recordsWithoutRow = 0
}
