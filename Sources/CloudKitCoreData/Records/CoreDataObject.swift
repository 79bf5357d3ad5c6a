public import CloudKit

/// An object of an app with Core Data or SwiftData, from its record.
public struct CoreDataObject: Hashable, Sendable {
    /// The ID of the object's record.
    public let recordID: CKRecord.ID
    /// The object's own entity.
    public let entity: String
    /// The values by the names of attributes; an attribute without a value has no entry.
    ///
    /// Where the record has no value, it is the model's default, as Core Data reads it. Encrypted attributes are
    /// there where the account's keys are.
    public let values: [String: CoreDataValue]
    /// The record names of the targets of to-one relationships.
    ///
    /// They may be missing in the zone.
    public let links: [String: String]
}
