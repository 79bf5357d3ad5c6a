/// A store's information about its records in CloudKit.
///
/// It exists once `NSPersistentCloudKitContainer` or SwiftData has mirrored the store.
public struct CoreDataMirror: Hashable, Sendable {
    /// A zone that the store mirrors.
    public struct Zone: Hashable, Sendable {
        /// The database of a zone.
        public enum Scope: String, Hashable, Sendable {
            /// The public database.
            case `public`
            /// The user's private database.
            case `private`
            /// The database of records that others share with the user.
            case shared
        }

        /// The zone's name.
        public let name: String
        /// The zone's owner; `__defaultOwner__` is the user.
        public let owner: String
        /// The database; nil if the store does not contain it.
        public let scope: Scope?
    }

    /// The record of an object.
    public struct Record: Hashable, Sendable {
        /// The record's name.
        public let name: String
        /// The record's zone; nil if the store does not contain it.
        public let zone: Zone?
    }

    /// The zones.
    public internal(set) var zones: [Zone] = []
    /// The number of rows that have a record.
    public internal(set) var rowsWithRecord = 0
    /// The number of rows, and of links in many-to-many relationships, without a record, by entity,
    /// or by entity and relationship.
    public internal(set) var missingRecords: [String: Int] = [:]
    /// The number of rows that are newer than their records.
    public internal(set) var rowsToSend = 0
    /// The number of records whose rows were deleted, and whose deletion CloudKit has not received.
    public internal(set) var recordsToDelete = 0
    /// The number of rows to be deleted because their records were deleted in CloudKit.
    public internal(set) var rowsToDelete = 0
    /// The number of known records without a row or link, and without a sign of its deletion.
    ///
    /// The app may have deleted their objects without a note of it, or may not have them yet.
    public internal(set) var recordsWithoutRow = 0
    /// The number of these records, by entity, or by entity and relationship.
    public internal(set) var entitiesOfRecordsWithoutRow: [String: Int] = [:]
}
