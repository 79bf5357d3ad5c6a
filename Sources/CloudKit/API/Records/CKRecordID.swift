public import Foundation

/// A record's ID: its name and its zone.
///
/// Apps write `CKRecord.ID`; the class is declared at the top level because Foundation's keyed
/// archives cannot name a nested one.
open class CKRecordID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because both stored properties are constants.

    /// The record's name, unique within its zone.
    public let recordName: String

    /// The zone that holds the record.
    public let zoneID: CKRecordZone.ID

    /// Creates an ID from a name, by default a new UUID, and a zone, by default the default zone.
    public init(
        recordName: String = UUID().uuidString,
        zoneID: CKRecordZone.ID = CKRecordZone.ID.default
    ) {
        precondition(!recordName.isEmpty, "CKRecord.ID: the record name is empty")
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// Creates an ID in the default zone.
    public convenience init(recordName: String) {
        self.init(recordName: recordName, zoneID: .default)
    }

    /// Returns whether name and zone are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecord.ID else { return false }
        return self === other || (recordName == other.recordName && zoneID.isEqual(other.zoneID))
    }

    /// A hash of the name.
    open override var hash: Int { recordName.hashValue }

    /// Returns the ID itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes name and zone under the keys of Apple's archives.
    open func encode(with coder: NSCoder) {
        coder.encode(recordName as NSString, forKey: "RecordName")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// Creates an ID from an archive; nil when a part is missing or empty.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let recordName = coder.string(forKey: "RecordName"), !recordName.isEmpty,
            let zoneID = coder.object(CKRecordZone.ID.self, forKey: "ZoneID")
        else { return nil }
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// A textual representation with the name and the zone.
    open override var description: String { "<CKRecordID: \(recordName); zone=\(zoneID)>" }
}
