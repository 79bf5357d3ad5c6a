public import Foundation

/// The identity of a record: its name and its zone.
///
/// Apps write `CKRecord.ID`; the class stands at the top level because keyed archives of Foundation
/// cannot name a nested one.
open class CKRecordID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because both stored properties are constants.

    /// The record's name, unique within its zone.
    public let recordName: String

    /// The zone that holds the record.
    public let zoneID: CKRecordZone.ID

    /// Makes an identity from a name, a new UUID unless given, in the default zone unless given.
    public init(
        recordName: String = UUID().uuidString,
        zoneID: CKRecordZone.ID = CKRecordZone.ID.default
    ) {
        precondition(!recordName.isEmpty, "CKRecord.ID: the record name is empty")
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// Makes an identity in the default zone.
    public convenience init(recordName: String) {
        self.init(recordName: recordName, zoneID: .default)
    }

    /// Whether name and zone are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecord.ID else { return false }
        return self === other || (recordName == other.recordName && zoneID.isEqual(other.zoneID))
    }

    /// A hash of the name.
    open override var hash: Int { recordName.hashValue }

    /// The identity itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived identity can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes name and zone under the keys that Apple's archives use.
    open func encode(with coder: NSCoder) {
        coder.encode(recordName as NSString, forKey: "RecordName")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// Reads an identity; nil when a part is missing or empty.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let recordName = coder.string(forKey: "RecordName"), !recordName.isEmpty,
            let zoneID = coder.object(CKRecordZone.ID.self, forKey: "ZoneID")
        else { return nil }
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// Name and zone.
    open override var description: String { "<CKRecordID: \(recordName); zone=\(zoneID)>" }
}
